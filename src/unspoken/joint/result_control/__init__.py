"""What results give away: what a party can work out of the others from a result and its own data.

Protocols keep everything but their result secret; this package looks at the result. A task says
what it opens in a few forms (`opened_forms`: totals, quotients with a common denominator, numbers
of a linear model, decisions), and from these it is computed what one party can work out of another:
by exact linear algebra (`linear_inference`), by the number theory of common denominators
(`shared_denominators`), and by the rank of the equations of a model (`moment_inference`).
`docs/concepts/result-disclosure.md` is the guide.
"""

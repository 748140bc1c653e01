"""What several owners can compute together: one file or folder a task, on the primitives.

Each holds the program, its plan (rounds, bytes, disclosures), the same mining on pooled data
(`pooled`), and the paper section it follows with what it improves. `unspoken.joint.tasks.task`
knows where each lives.
"""

"""Decision trees of several owners: ID3 over rows or over columns that are spread among them.

    from tacit.joint.protocols.trees import Attribute, Layout, Rules, mine_tree_horizontal

    layout = Layout((Attribute("age", cuts=(30.5, 45.5)), Attribute("sex", ("f", "m"))),
                    ("no", "yes"), target="income")
    trees, ledgers = mine_tree_horizontal([north, south, east], layout, Rules(most=50_000))

`layout` holds what everybody knows (attributes, cut points, classes), `growth` the tree as it
grows and the counting, `scores` and `choosing` how questions are compared, in the clear and on
shares, `cuts` how cut points are agreed on. `horizontal`, `forest` and `boosting` work over rows,
`vertical`, `vertical_growing`, `sites` and `classifying` over columns, `hidden` over columns with
trees that nobody sees, one or a forest; `costs` and `hidden_costs` forecast them.
"""

from tacit.joint.protocols.trees.boosting import Boost, central_boost, mine_boost_horizontal
from tacit.joint.protocols.trees.central import central
from tacit.joint.protocols.trees.classifying import (
    ClassifyTogether,
    ClassifyWalking,
    classify_in_parts,
)
from tacit.joint.protocols.trees.cuts import Span
from tacit.joint.protocols.trees.forest import central_forest, mine_forest_horizontal
from tacit.joint.protocols.trees.growth import Rules
from tacit.joint.protocols.trees.hidden import (
    ClassifyHidden,
    HiddenTree,
    classify_hidden,
    mine_tree_hidden,
)
from tacit.joint.protocols.trees.hidden_forest import Forest, central_forest_columns
from tacit.joint.protocols.trees.hidden_part import HiddenPart
from tacit.joint.protocols.trees.horizontal import HorizontalTree, mine_tree_horizontal
from tacit.joint.protocols.trees.layout import Attribute, Layout
from tacit.joint.protocols.trees.sites import Shape, Site
from tacit.joint.protocols.trees.vertical import VerticalTree, mine_tree_vertical

__all__ = ["Attribute", "Boost", "ClassifyHidden", "ClassifyTogether", "ClassifyWalking",
           "Forest", "HiddenPart", "HiddenTree", "HorizontalTree", "Layout", "Rules", "Shape",
           "Site", "Span", "VerticalTree", "central", "central_boost", "central_forest",
           "central_forest_columns", "classify_hidden", "classify_in_parts",
           "mine_boost_horizontal", "mine_forest_horizontal", "mine_tree_hidden",
           "mine_tree_horizontal", "mine_tree_vertical"]

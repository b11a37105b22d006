"""Instructions whose name has several parts, which must come first and in this order."""

NAMES = frozenset(
    """
    mul.lo mul.hi mul.wide mad.lo mad.hi mad.wide mul24.lo mul24.hi mad24.lo mad24.hi
    """.split()
)
"""What the manual and ptxas take for one name."""

"""What decides between equally good partners, in words."""


def tie_rule() -> str:
    return (
        "Of equal ones, the first in tree order is taken: first all values, as drawn; then the "
        "groups, branch by branch, each after the groups below it; the root last. The first "
        "column that differs decides. With Cat and Lion below Felid, and Dog beside it, that is "
        "Cat, Lion, Dog, Felid, Mammal."
    )

"""Arrays that a kernel lends to the functions it calls, without a count of who holds them.

Numba counts the references to an array at every call that it does not copy into its caller: two locked
instructions for each array, which for a call a row cost as much as the row, and more where two threads
share an array. What a kernel was called with stays alive until it returns, so nobody need count.
"""

from numba import config
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def _compiled(context, array):
    def build(context, builder, signature, arguments):
        lent = context.make_array(signature.return_type)(context, builder, arguments[0])
        lent.meminfo = cgutils.get_null_value(lent.meminfo.type)  # nothing to count in
        lent.parent = cgutils.get_null_value(lent.parent.type)
        return lent._getvalue()

    return array(array), build


def _itself(array):
    return array


# Of an array that was given to the kernel: one to pass on, which must not be returned.
lent = _itself if config.DISABLE_JIT else _compiled

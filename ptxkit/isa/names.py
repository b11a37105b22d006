"""Instructions whose name has several parts, which must come first and in this order.

What an entry does:

- The modifiers that make up the name stand first, in this order; the others follow in any order.
- An instruction has the longest name that it begins with, and fits only rows of that name.
- Operations, effects, lowerings and traits go by that name: with `cp.async.bulk.prefetch` here, what is
  registered for `cp.async.bulk` is never asked for a prefetch; without the entry it would be.
- The parts of the name are not slots of an operation's form: there is no `form["prefetch"]`.

A modifier with a slot of its own, such as the `.sync` of `shfl.sync`, is not part of the name.
"""

NAMES = frozenset(
    """
    mul.lo mul.hi mul.wide mad.lo mad.hi mad.wide madc.lo madc.hi mul24.lo mul24.hi mad24.lo mad24.hi
    dp2a.lo dp2a.hi clmad.lo clmad.hi div.full brx.idx shf.l shf.r setmaxnreg.inc setmaxnreg.dec st.async st.bulk
    multimem.ld_reduce multimem.st multimem.red multimem.st.async multimem.red.async trace.mark createpolicy.range.fabric createpolicy.range createpolicy.fractional createpolicy.cvt cvta.to cvt.pack tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.ld.red tcgen05.st
    tcgen05.wait::ld tcgen05.wait::st tcgen05.cp tcgen05.shift tcgen05.mma tcgen05.mma.ws
    tcgen05.fence::before_thread_sync tcgen05.fence::after_thread_sync tcgen05.commit wgmma.mma_async wgmma.fence wgmma.commit_group
    wgmma.wait_group tex.base tex.level tex.grad txq.level suld.b sust.b sust.p sured.b sured.p wmma.load.a wmma.load.b wmma.load.c wmma.store.d wmma.mma
    bar.sync bar.cta.sync barrier.aligned.sync barrier.cta.aligned.sync barrier.sync barrier.cta.sync bar.arrive bar.red bar.cta.arrive bar.cta.red bar.warp.sync barrier.arrive barrier.red
    barrier.cta.arrive barrier.cta.red barrier.cluster.arrive
    barrier.cluster.wait fence.proxy membar.proxy red.async tensormap.cp_fenceproxy
    mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx mbarrier.arrive mbarrier.arrive_drop
    mbarrier.arrive.expect_tx mbarrier.arrive_drop.expect_tx mbarrier.test_wait mbarrier.test_wait.parity
    mbarrier.check_layout mbarrier.try_wait.parity mbarrier.try_wait mbarrier.pending_count cp.async cp.async.mbarrier.arrive cp.async.commit_group
    cp.async.wait_group cp.async.wait_all cp.async.bulk cp.reduce.async.bulk cp.async.bulk.prefetch
    cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.tensor cp.reduce.async.bulk.tensor
    cp.async.bulk.prefetch.tensor tensormap.replace clusterlaunchcontrol.try_cancel.async clusterlaunchcontrol.query_cancel
    multimem.cp.async.bulk multimem.cp.reduce.async.bulk applypriority.async.bulk applypriority.async.bulk.tensor
    tcgen05.ld.spcompress tcgen05.ld.red.spcompress
    tensormap.query.alloc_class_large fabric.try_get.async fabric.try_put.async fabric.try_red.async fabric.try_pullred.async fabric.try_atom.async
    fabric.try_get.async.tensor fabric.try_put.async.tensor fabric.try_red.async.tensor fabric.submit
    fabric.submit.commit_group fabric.wait
    """.split()
)
"""What the manual and ptxas take for one name."""

RESTRICTIONS = [f"sync_restrict::shared::{space}" for space in ("cta", "cluster", "cluster::read")]
FABRIC = ".generic::fabric | .fabric::generic | .fabric::fabric"
SCOPES = ".cta | .cluster | .gpu | .sys"
PASSES_OVER: dict[str, dict[str, str]] = {}
"""The modifiers that ptxas ignores if one of them is given, by the instruction's name, each with a condition that the
others must meet, or none. The manual has none of them there."""
for _modifiers, _names, *_condition in (
    (
        "pred",
        """
        abs add atom cos cp.reduce.async.bulk cvt cvt.pack ex2 fma lg2 max min mul multimem.ld_reduce multimem.red
        multimem.st neg rcp red rsqrt set setp sin sqrt sub tanh wgmma.mma_async wmma.mma ldmatrix spcompress
        spdecompress multimem.cp.reduce.async.bulk tcgen05.ld.spcompress tcgen05.ld.red.spcompress
        fabric.try_get.async.tensor fabric.try_put.async.tensor fabric.try_red.async fabric.try_red.async.tensor
        fabric.try_pullred.async fabric.try_atom.async
        """,
    ),
    (
        "acc::f16 acc::f32",
        """
        multimem.st multimem.red multimem.st.async multimem.red.async multimem.cp.async.bulk
        multimem.cp.reduce.async.bulk fabric.submit fabric.wait fabric.try_get.async fabric.try_put.async
        fabric.try_red.async fabric.try_atom.async fabric.try_get.async.tensor fabric.try_put.async.tensor
        fabric.try_red.async.tensor
        """,
    ),
    ("b2 b8x16 b4x16_p64 b6x16_p32", " ".join(name for name in NAMES if name.startswith("tcgen05."))),
    ("b8x16 b4x16_p64 b6x16_p32", "mma wmma.load.a wmma.load.b wmma.load.c wmma.store.d wmma.mma"),
    ("b1 b2 b4 u2 u4 s2 s4 bf16 bf16x2 tf32", "mma", ".f64"),
    ("and xor", "mma", "(.u4 | .s4) & !.sp & !.sp::ordered_metadata"),
    ("bf16x2 tf32", "wmma.load.c wmma.store.d", ".m8n8k32 | .m8n8k128"),
    ("async", "fence"),
    (" ".join(RESTRICTIONS[:2]), "fence", ".mbarrier_init"),
    (
        "global shared::cta shared::cluster",
        "fence.proxy",
        f"({SCOPES}) & ({FABRIC} | !.alias) & !.global & !.shared::cta & !.shared::cluster",
    ),
    (" ".join(RESTRICTIONS), "fence.proxy", f"({SCOPES}) & !.{' & !.'.join(RESTRICTIONS)}"),
    ("tensormap", "prefetch", ".valid_addr & !.global"),
    ("shared shared::cta", "st.async", ".mbarrier::complete_tx::bytes & !.cluster & !.shared::cluster"),
    ("cluster", "st.async", ".b128 & !.weak"),
    ("cta cluster gpu sys", "cp.async.bulk.tensor cp.reduce.async.bulk.tensor mbarrier.check_layout"),
    (
        """
        global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout swizzle_mode
        swizzle_atomicity fill_mode
        """,
        "tensormap.cp_fenceproxy tensormap.query.alloc_class_large",
    ),
):
    for _name in _names.split():
        PASSES_OVER.setdefault(_name, {}).update(dict.fromkeys(_modifiers.split(), "".join(_condition)))

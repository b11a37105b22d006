"""From card, workload, sizes and flags to a `LaunchPlan`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ptxkit.asm.tree import Module
from ptxkit.card import Card, LaunchCard, Param, Preset, SizeExpression, expression
from ptxkit.device.protocol import Dim3
from ptxkit.diagnostics import Diagnostic, PtxkitError, error, listing
from ptxkit.plan.data import Argument, Launch, LaunchPlan, Program
from ptxkit.plan.flags import ArgumentFlag, TensorFlag
from ptxkit.plan.tensors import Tensors, tensor_maps
from ptxkit.workloads import Workload, registered, workload
from ptxkit.workloads.expect import Expect


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks beside the card; everything has a default.

    Attributes:
        entry: the `.entry` to launch, where the file has several.
        preset, sizes: one of the card's presets, and sizes that come on top of it or stand alone.
        workload, inputs, seed: the problem, its input generator, the generator's seed.
        grid, block, cluster, shared, cooperative: in place of the card's.
        arguments: `--arg` by name; where no launch card names them, by the entry's parameters or in order.
    """

    entry: str | None = None
    preset: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    workload: str | None = None
    inputs: str | None = None
    seed: int | None = None
    grid: tuple[SizeExpression, ...] | None = None
    block: tuple[SizeExpression, ...] | None = None
    cluster: tuple[SizeExpression, ...] | None = None
    shared: SizeExpression | None = None
    cooperative: bool = False
    arguments: Mapping[str, ArgumentFlag] = field(default_factory=dict)


def make(program: Program, module: Module, card: Card | None, request: Request) -> LaunchPlan:
    """The plan for one run.

    Raises:
        PtxkitError: P504 (no such entry), P534 to P537 (what is in the card or the flags), P543 (no card
            and no flags in its place), P544 (no such preset), P550 to P553 (workload and sizes), P561 (no
            launch takes these sizes), P562 (names that don't fit together).
    """
    return _PlanMaker(program, module, card or Card(), request).plan(has_card=card is not None)


class _PlanMaker:
    """One plan being made."""

    def __init__(self, program: Program, module: Module, card: Card, request: Request) -> None:
        self.program = program
        self.module = module
        self.card = card
        self.request = request

    def plan(self, has_card: bool) -> LaunchPlan:
        request, card = self.request, self.card
        self._check_entry()
        name = request.workload or card.workload
        self.workload = self._workload(name) if name else None
        preset = self._preset()
        self.sizes = self._sizes(preset)
        launches = self._launches(has_card)
        made = Tensors(self.program, card, self.workload, self.sizes, request.arguments)
        self.tensors = {tensor.name: tensor for tensor in made.all()}
        self._check_expectations()
        maps = tuple(tensor_maps(card, launches, self.sizes, self.tensors))
        self.map_names = {tensor_map.name for tensor_map in maps}
        settled = tuple(self._launch(launch) for launch in launches)
        self._check_arguments(settled)
        used = {a.tensor for launch in settled for a in launch.arguments} | {m.tensor for m in maps}
        self._check_outputs(used)
        inputs, seed = None, request.seed
        chosen = request.inputs or (preset.inputs if preset else None)
        if self.workload:
            inputs = self.workload.generator(chosen)
            seed = self.workload.generators[inputs].seed if seed is None else seed
        elif chosen:
            help = (
                "`--inputs` chooses among a workload's generators; without one, `--arg x=f32[8]:randn` does"
            )
            raise error("P553", f"expected a workload for the inputs `{chosen}`, found none", help=help)
        return LaunchPlan(
            program=self.program,
            launches=settled,
            tensors=tuple(tensor for tensor in self.tensors.values() if tensor.name in used),
            sizes=dict(self.sizes),
            workload=name,
            preset=preset.name if preset and not request.sizes else None,
            inputs=inputs,
            seed=seed or 0,
            tensor_maps=maps,
            operations=self.card.operations.evaluate(self.sizes) if self.card.operations else 0,
            arithmetic=self.card.arithmetic,
        )

    # ---- entry, workload, sizes

    def _check_entry(self) -> None:
        name = self.request.entry
        known = [entry.name for entry in self.module.entries]
        if name is not None and name not in known:
            listed = listing(known) or "none"
            raise error(
                "P504", f"expected an entry of `{self.program.name}`, found `{name}`", help=f"it has {listed}"
            )

    def _workload(self, name: str) -> Workload:
        if self.request.workload:
            return workload(name)
        try:
            return registered(name)
        except PtxkitError as problem:
            placed = [d.at(self.card.workload_span, self.card.source) for d in problem.diagnostics]
            raise PtxkitError(placed) from None

    def _preset(self) -> Preset | None:
        presets = {preset.name: preset for preset in self.card.presets}
        wanted = self.request.preset
        if wanted is not None and wanted not in presets:
            listed = listing(presets) or "none; give sizes with `-p`"
            raise error("P544", f"expected a preset of the card, found `{wanted}`", help=f"it has {listed}")
        if wanted is None and (self.request.sizes or not presets):
            return None
        return presets[wanted] if wanted is not None else self.card.presets[0]

    def _sizes(self, preset: Preset | None) -> dict[str, int]:
        sizes = {**(preset.sizes if preset else {}), **self.request.sizes}
        if self.workload:
            try:
                self.workload.check(sizes)
            except PtxkitError as problem:
                raise self._with_preset_hint(problem) from None
        elif self.card.presets and set(sizes) != set(self.card.size_names):
            expected = listing(self.card.size_names)
            given = listing(sizes)
            message = f"expected the sizes {expected}, found {given or 'none'}"
            raise self._with_preset_hint(error("P551", message))
        return sizes

    def _with_preset_hint(self, problem: PtxkitError) -> PtxkitError:
        """Add that sizes can start from a preset, where one is missing and none was named."""
        first = problem.diagnostics[0]
        if first.code != "P551" or self.request.preset or not self.card.presets:
            return problem
        names = ", ".join(f"`--preset {preset.name}`" for preset in self.card.presets[:3])
        return PtxkitError(
            replace(first, notes=(*first.notes, f"`-p` changes a preset if one is named: {names}"))
        )

    # ---- launches

    def _launches(self, has_card: bool) -> list[LaunchCard]:
        request = self.request
        chosen = [launch for launch in self.card.launches if self._launches_entry(launch)]
        if not chosen:
            return [self._from_flags(has_card)]
        running = self._running(chosen)
        overridden = {
            key: value
            for key in ("grid", "block", "cluster", "shared", "cooperative")
            if (value := getattr(request, key)) not in (None, False)
        }
        if overridden and len(running) > 1:
            flag = f"--{next(iter(overridden))}"
            help = "name the entry to launch, or change the card"
            raise error("P562", f"`{flag}` fits one launch, the card runs {len(running)}", help=help)
        return [replace(launch, **overridden) for launch in running]

    def _launches_entry(self, launch: LaunchCard) -> bool:
        wanted = self.request.entry
        return (
            wanted is None
            or launch.entry == wanted
            or (launch.entry is None and len(self.module.entries) == 1)
        )

    def _from_flags(self, has_card: bool) -> LaunchCard:
        request = self.request
        if request.grid is None or request.block is None:
            entry = f" for `{request.entry}`" if request.entry and has_card else ""
            missing = " and ".join(f"`--{key}`" for key in ("grid", "block") if getattr(request, key) is None)
            what = "a launch" if has_card else "a launch card"
            raise error(
                "P543",
                f"expected {what}{entry} in `{self.program.name}`, or {missing}; found neither",
                help="add a card (`ptxkit explain P543` shows one), or launch from flags: "
                "`--grid 4 --block 256 --arg x=f32[1024]:randn --arg n=1024`",
            )
        params = tuple(Param(expression.parse(name)) for name in self._in_order())
        return LaunchCard(
            grid=request.grid,
            block=request.block,
            entry=request.entry,
            cluster=request.cluster,
            shared=request.shared,
            cooperative=request.cooperative,
            params=params,
        )

    def _in_order(self) -> list[str]:
        """The names after `--arg` as the entry takes them: its parameters where all names are, else in the
        order given. Parameters called like a tensor of the workload or like a size need no `--arg`."""
        given = list(self.request.arguments)
        known = {tensor.name for tensor in self.workload.tensors(self.sizes)} if self.workload else set()
        known |= self.sizes.keys()
        entries = [e for e in self.module.entries if self.request.entry in (None, e.name)]
        if len(entries) != 1:
            return given
        taken = [variable.declarators[0].name for variable in entries[0].parameters]
        strange = [name for name in given if name not in taken and name not in known]
        if strange and any(name in taken for name in given):
            from difflib import get_close_matches

            near = get_close_matches(strange[0], taken, 1)
            help = f"did you mean `{near[0]}`?" if near else f"it has {listing(taken)}"
            message = f"expected a parameter of `{entries[0].name}` after `--arg`, found `{strange[0]}`"
            raise error("P562", message, help=help)
        if not (given or known) or not set(given) <= set(taken):
            return given
        for name in taken:
            if name not in given and name not in known:
                message = f"expected `--arg {name}=..` for a parameter of `{entries[0].name}`, found none"
                listed = listing(taken)
                raise error("P562", message, help=f"it has {listed}")
        return taken

    def _running(self, launches: Sequence[LaunchCard]) -> list[LaunchCard]:
        """Those whose `when` holds; of a group the first."""
        running: list[LaunchCard] = []
        done: set[str] = set()
        for launch in launches:
            if launch.group in done:
                continue
            if launch.when is None or launch.when.evaluate(self.sizes):
                running.append(launch)
                if launch.group is not None:
                    done.add(launch.group)
        groups = {launch.group for launch in launches if launch.group is not None}
        refused = sorted(groups - done) if running else [None]
        if refused:
            raise self._refusal(launches, refused[0])
        return running

    def _refusal(self, launches: Iterable[LaunchCard], group: str | None) -> PtxkitError:
        conditions = [launch.when for launch in launches if launch.when and group in (None, launch.group)]
        given = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        wanted = " or ".join(f"`{condition.text}`" for condition in conditions)
        place = conditions[0] if conditions else None
        where = f" of group `{group}`" if group else ""
        return PtxkitError(
            Diagnostic(
                "P561",
                f"no launch{where} in the card takes {given}",
                place.span if place else None,
                help=f"the kernel needs {wanted}",
                source=self.card.source,
            )
        )

    def _launch(self, launch: LaunchCard) -> Launch:
        def three(extents: Sequence[SizeExpression]) -> Dim3:
            x, y, z = (*(extent.evaluate(self.sizes) for extent in extents), 1, 1)[:3]
            return x, y, z

        return Launch(
            entry=launch.entry,
            grid=three(launch.grid),
            block=three(launch.block),
            cluster=three(launch.cluster) if launch.cluster else None,
            shared=launch.shared.evaluate(self.sizes) if launch.shared else 0,
            cooperative=launch.cooperative,
            arguments=tuple(self._argument(param) for param in launch.params),
        )

    def _argument(self, param: Param) -> Argument:
        if not isinstance(param.value, SizeExpression):
            return Argument(value=param.value)
        name = param.name
        if name is not None:
            given = self.request.arguments.get(name)
            if name in self.tensors:
                return Argument(tensor=name)
            if name in self.map_names:
                return Argument(tensor_map=name)
            if isinstance(given, int | float):
                return Argument(value=given)
            if isinstance(given, bytes):
                return Argument(content=given.hex())
            if name not in self.sizes:
                known = listing((*self.tensors, *self.map_names, *self.sizes))
                message = f"expected a tensor, a tensor map or a size in `params`, found `{name}`"
                raise PtxkitError(
                    Diagnostic("P534", message, param.span, help=f"there is {known}", source=self.card.source)
                )
        return Argument(value=param.value.evaluate(self.sizes))

    # ---- what must fit together

    def _check_arguments(self, launches: Sequence[Launch]) -> None:
        """Every `--arg` names something that a launch takes."""
        params = {param.name for launch in self.card.launches for param in launch.params}
        for name, flag in self.request.arguments.items():
            if not self.card.launches or name in self.tensors:
                continue
            if name in self.sizes and isinstance(flag, int | float):
                raise error("P562", f"`{name}` is a size of the problem", help=f"write `-p {name}={flag}`")
            if name not in params or isinstance(flag, TensorFlag):
                known = listing(self.tensors)
                raise error(
                    "P562",
                    f"expected a tensor of the launch after `--arg`, found `{name}`",
                    help=f"it has {known}",
                )

    def _check_expectations(self) -> None:
        """What the card expects of its tensors can be evaluated; a complaint shows its place."""
        filled = (tensor.name for tensor in self.tensors.values() if tensor.initial)
        names = dict.fromkeys((*filled, *self.sizes))
        for tensor in self.card.tensors:
            if tensor.expect is not None:
                Expect(tensor.expect, names, tensor.expect_span, self.card.source)

    def _check_outputs(self, used: set[str | None]) -> None:
        """A kernel for a workload must be given every output, or nothing could be verified."""
        if self.workload is None:
            return
        for tensor in self.workload.tensors(self.sizes):
            if tensor.role == "output" and tensor.name not in used:
                owner = self.workload.name
                message = f"expected the output `{tensor.name}` of `{owner}` among the arguments, found none"
                span = self.card.launches[0].spans.get("params") if self.card.launches else None
                help = "name a parameter of the `.entry` so, or name the arguments in the card's `params`"
                raise PtxkitError(Diagnostic("P562", message, span, help=help, source=self.card.source))

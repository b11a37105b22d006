"""A pool of workers, each in a thread of its own that takes the next task when it is free."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_tasks(
    tasks: Sequence[Task], workers: Sequence[Callable[[Task], Result]]
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in the order in which they come.

    What a worker raises is raised here. Ctrl-C too, but not before every result that is there has been given.
    The threads end when their present task does; whoever gave the workers can cut that short.

    Args:
        tasks: to be done once each, in no fixed order.
        workers: do one task at a time each, never two at once.
    """
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Task, Result | None, BaseException | None]] = queue.SimpleQueue()
    over = threading.Event()
    for task in tasks:
        waiting.put(task)

    def work(worker: Callable[[Task], Result]) -> None:
        while not over.is_set():
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((task, worker(task), None))
            except BaseException as problem:  # noqa: BLE001 - raised again by whoever waits for the result
                done.put((task, None, problem))

    for number, worker in enumerate(workers):
        threading.Thread(target=work, args=(worker,), name=f"ptxkit worker {number}", daemon=True).start()
    try:
        for _ in tasks:
            task, result, problem = done.get()
            if problem is not None:
                raise problem
            yield task, _made(result)
    except KeyboardInterrupt:
        over.set()
        while not done.empty():
            task, result, problem = done.get()
            if problem is None:
                yield task, _made(result)
        raise
    finally:
        over.set()


def _made(result: Any) -> Any:
    """A result of which it is known that the worker gave it."""
    return result

"""The process of the peers: reads one request a line, bounds with one of them, answers one line.

Run by the interpreter of `.venv-bounds` only. It imports nothing of ours: the networks are built from their
weights once more, and the boxes are the peers' own.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import types
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

CURVES = {"tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


def restore() -> None:
    """Puts back what auto_LiRPA 0.3 (2022) imports or calls and today's torch and numpy lack."""
    from torch.onnx._internal.torchscript_exporter._globals import GLOBALS

    # The module of this path: as an attribute torch.onnx has another one of this name.
    symbolic_helper = import_module("torch.onnx.symbolic_helper")
    moved = types.ModuleType("numpy.lib.arraysetops")
    moved.isin = np.isin
    sys.modules[moved.__name__] = moved

    def set_opset_version(number: int) -> None:
        GLOBALS.export_onnx_opset_version = number

    symbolic_helper._set_opset_version = set_opset_version
    # What torch.onnx once added to the nodes of a traced graph: an attribute by its name.
    torch._C.Node.__getitem__ = lambda node, name: getattr(node, node.kindOf(name))(name)


# --- the networks, for a batch of one text (1, words, d) ------------------------------------------


def affine(weight: Tensor, bias: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = weight, bias
    return layer


class Windows(nn.Module):
    """A convolution over three words as one of images, which is the kind that auto_LiRPA knows."""

    def __init__(self, weight: Tensor, bias: Tensor, words: int, *, strongest: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, weight.shape[0], (3, weight.shape[1]), padding=(1, 0))
        self.conv.weight.data = weight.transpose(1, 2).unsqueeze(1).contiguous()
        self.conv.bias.data = bias
        self.strongest = strongest
        self.pool = nn.MaxPool2d((words, 1)) if strongest else nn.Identity()

    def forward(self, texts: Tensor) -> Tensor:
        return self.pool(self.conv(texts.unsqueeze(1)).relu()).flatten(1)


class Gates(nn.Module):
    """An LSTM word by word, every gate an affine layer of its own; its last state."""

    def __init__(self, inward: list[Tensor], onward: list[Tensor], words: int) -> None:
        super().__init__()
        self.words = words
        parts = [torch.chunk(part, 4) for part in (*inward, *onward)]
        self.reads = nn.ModuleList(affine(w, b) for w, b in zip(*parts[:2], strict=True))
        self.keeps = nn.ModuleList(affine(w, b) for w, b in zip(*parts[2:], strict=True))
        # Before the first word the state is zero, and only the bias of its layer is left.
        self.alone = nn.ModuleList(
            affine(r.weight, r.bias + k.bias) for r, k in zip(self.reads, self.keeps, strict=True)
        )

    def forward(self, texts: Tensor) -> Tensor:
        enter, _, inner, leave = (gate(texts[:, 0]) for gate in self.alone)
        cell = enter.sigmoid() * inner.tanh()
        state = leave.sigmoid() * cell.tanh()
        for word in range(1, self.words):
            here = texts[:, word]
            enter, keep, inner, leave = (
                read(here) + past(state) for read, past in zip(self.reads, self.keeps, strict=True)
            )
            cell = keep.sigmoid() * cell + enter.sigmoid() * inner.tanh()
            state = leave.sigmoid() * cell.tanh()
        return state


def network(case: dict[str, Any], words: int) -> nn.Sequential:
    """The network; its last layer gives the differences of two logits, label by label."""
    family = case["family"]
    layers = [[torch.tensor(part) for part in layer] for layer in case["layers"]]
    (first, bias), rest = layers[0], layers[1:]
    if family == "lstm":
        parts: list[nn.Module] = [Gates(layers[0], layers[1], words)]
        rest = rest[1:]
    elif family in ("cnn", "convolution"):
        parts = [Windows(first, bias, words, strongest=family == "cnn")]
    else:
        if family == "dan":
            first = first.repeat(1, words) / words
        parts = [nn.Flatten(), affine(first, bias), CURVES.get(family, nn.ReLU)()]
    for weight, bias in rest[:-1]:
        parts += [affine(weight, bias), CURVES.get(family, nn.ReLU)()]
    weight, bias = rest[-1]
    pairs = [(a, b) for a in range(len(bias)) for b in range(len(bias)) if a != b]
    one, other = (torch.tensor(side) for side in zip(*pairs, strict=True))
    return nn.Sequential(*parts, affine(weight[one] - weight[other], bias[one] - bias[other]))


# --- the peers: for each method the way to its lower bounds, (pairs,) ------------------------------

Ways = dict[str, Callable[[], Tensor]]


def by_auto_lirpa(net: nn.Sequential, lower: Tensor, upper: Tensor) -> Ways:
    """Its bounds, with the rule for ReLUs that is also ours."""
    from auto_LiRPA import BoundedModule, BoundedTensor, PerturbationLpNorm

    class Bounded(BoundedModule):  # torch has since learned to ask for more
        def _named_members(self, *args: Any, remove_duplicate: bool = True, **kwargs: Any) -> Any:
            return super()._named_members(*args, **kwargs)

    middle = (lower + upper) / 2
    options = {"relu": "adaptive", "conv_mode": "matrix"}

    def lowest(name: str) -> Tensor:
        # Made anew for each method: the boxes of one are not to help another.
        bounded = Bounded(net, middle, device="cpu", bound_opts=options)
        ball = PerturbationLpNorm(norm=float("inf"), x_L=lower, x_U=upper)
        found = bounded.compute_bounds((BoundedTensor(middle, ball),), method=name)
        return found[0][0].detach()

    names = {"intervals": "IBP", "crown-ibp": "CROWN-IBP", "crown": "CROWN"}
    names["optimised"] = "CROWN-Optimized"
    return {method: partial(lowest, name) for method, name in names.items()}


def by_bound_propagation(net: nn.Sequential, lower: Tensor, upper: Tensor) -> Ways:
    """Its bounds; it knows sequences of affine layers and curves only, so no maximum and no LSTM."""
    from bound_propagation import BoundModelFactory, HyperRectangle

    if isinstance(net[0], Gates) or (isinstance(net[0], Windows) and net[0].strongest):
        return {}
    if isinstance(net[0], Windows):
        net = flattened(net, lower)
    parts = [part for part in net if not isinstance(part, nn.Flatten)]
    bounded = BoundModelFactory(adaptive_relu=True).build(nn.Sequential(*parts))
    box = HyperRectangle(lower.flatten(1), upper.flatten(1))
    return {
        "intervals": lambda: bounded.ibp(box).lower[0],
        "crown-ibp": lambda: bounded.crown_ibp(box).concretize().lower[0],
        "crown": lambda: bounded.crown(box).concretize().lower[0],
        "optimised": lambda: bounded.crown_ibp(box, alpha=True).concretize().lower[0],
    }


def flattened(net: nn.Sequential, like: Tensor) -> nn.Sequential:
    """The network with its convolution as the matrix that unit vectors show it to be."""
    conv = net[0].conv
    unit = torch.eye(like.numel()).reshape(-1, 1, *like.shape[1:])
    with torch.no_grad():
        bias = conv(torch.zeros_like(unit[:1])).flatten(1)
        matrix = conv(unit).flatten(1) - bias
    return nn.Sequential(affine(matrix.T, bias[0]), nn.ReLU(), *list(net)[1:])


PEERS: dict[str, Callable[[nn.Sequential, Tensor, Tensor], Ways]] = {
    "auto_LiRPA": by_auto_lirpa,
    "bound_propagation": by_bound_propagation,
}


def answer(peer: str, case: dict[str, Any], skip: list[str]) -> dict[str, Any]:
    """The value in the middle of the box, the peer's bounds, and what it raised in place of one."""
    lower, upper = (torch.tensor([case[side]]) for side in ("lower", "upper"))
    net = network(case, lower.shape[1]).requires_grad_(False)
    bounds: dict[str, list[float]] = {}
    refused: dict[str, str] = {}
    for method, way in PEERS[peer](net, lower, upper).items():
        if method in skip:
            continue
        try:
            bounds[method] = way().tolist()
        except Exception as error:  # one that fails is counted, and is no reason to stop
            refused[method] = f"{type(error).__name__}: {error}"
    middle = net((lower + upper) / 2)[0].tolist()
    return {"middle": middle, "bounds": bounds, "refused": refused}


def main() -> None:
    """Answers until the input ends; whatever else is printed goes to the errors."""
    logging.disable(logging.WARNING)  # one for each network without a slope to choose
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    restore()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            request = json.loads(line)
            found: Any = {name: version(name) for name in [*PEERS, "torch", "numpy"]}
            if request["do"] == "bound":
                found = answer(request["peer"], request["case"], request["skip"])
            answers.write(json.dumps(found) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()

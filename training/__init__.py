"""Scripts that made the weights shipped inside the package; each has its recipe in its docstring."""

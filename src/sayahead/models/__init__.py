"""The networks in PyTorch, as plain modules: for training and export, never needed to speak."""

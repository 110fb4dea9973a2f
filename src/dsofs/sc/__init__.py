"""Gene panels: the few genes by which the cell types of an AnnData object are told apart."""

from dsofs.sc.panel import select_panel

__all__ = ["select_panel"]

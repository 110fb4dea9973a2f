"""Gene panels: the few genes that tell the cell types of an AnnData object apart."""

from dsofs.sc.panel import select_panel

__all__ = ["select_panel"]

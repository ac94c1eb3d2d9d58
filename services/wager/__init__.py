"""Every chip: the double-entry ledger, holds, settlement, racks and the tray."""

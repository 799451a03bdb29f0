"""People review the texts of a perturbation set."""

"""Expert weights by survey: ask which metric each perturbation hurts most, count the votes.

As in the DHP paper (Wang et al. 2025): each expert names, for every quality issue, the metric that it should
hurt most; the shares of the votes are the weights.
"""

"""`wgslgen bench`: how long variants and plans take on an adapter, beside what its memory and its units can do.

What a variant moves and multiplies is counted from its spec (`counts`); bandwidths and rates are measured by small
kernels in the same run (`references`); `clock` says when a figure is to be trusted. `machine` speaks to the device,
`prepared` binds buffers to passes, `contents` fills them. `suite` holds the targets, `decoding` a whole model's passes.
"""

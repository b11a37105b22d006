"""Libraries that stand beside the driver: nvJitLink, which links PTX here, and NVML, which says what
devices there are.
"""

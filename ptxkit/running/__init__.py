"""From a launch plan to a verified report: devices by name, tensors on a device, a session, its report."""

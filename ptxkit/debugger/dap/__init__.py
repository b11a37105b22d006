"""The Debug Adapter Protocol: how editors ask a session. https://microsoft.github.io/debug-adapter-protocol"""

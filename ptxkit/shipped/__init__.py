"""The kernels that come with ptxkit."""

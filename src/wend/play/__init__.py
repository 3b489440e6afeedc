"""The sandbox's server: worlds that are played live, and the socket that shows them and takes orders."""

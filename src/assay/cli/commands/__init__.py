"""The commands of `assay`, one module each, named after its command. A group is a folder."""

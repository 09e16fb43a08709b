"""What several tests share: slow twins, streams, files, environments."""

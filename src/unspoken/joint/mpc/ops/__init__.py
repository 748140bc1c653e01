"""Operations on shared values: a file each, with its section, cost and what it discloses."""

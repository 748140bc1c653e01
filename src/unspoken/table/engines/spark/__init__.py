"""The Spark engine: counting by SQL, row maps on workers, one shuffle of packed rows."""

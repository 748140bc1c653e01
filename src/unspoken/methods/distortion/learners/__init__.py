"""Trees and naive Bayes from distorted records (as2000 section 4)."""

"""A relay for parties that can only dial out: it joins two connections, and sees ciphertext."""

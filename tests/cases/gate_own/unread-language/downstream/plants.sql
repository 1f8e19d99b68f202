SELECT id, name FROM plants;

"""The gate on pull requests: proves that downstream modules have adapted to a changed contract."""

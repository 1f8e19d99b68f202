def kinds(spark):
    return spark.sql(
        """
        -- contract: k.v1.M
        SELECT CASE kind WHEN 'KIND_A' THEN 1 WHEN 'KIND_C' THEN 3 END FROM m
        """
    )

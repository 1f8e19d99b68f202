-- contract: k.v1.M
SELECT CASE kind WHEN 'KIND_A' THEN 1 ELSE 0 END
FROM m

-- Share of old facts that contexts hold, by category of fact and strategy: means over groups.
WITH fact_recall AS (
    SELECT case_id, fact, any_value(category) AS category, any_value(weight) AS weight, avg(CAST(is_present AS INTEGER)) AS hit
    FROM looks GROUP BY case_id, fact
),
units AS (
    SELECT protocol, strategy, group_id, category, sum(weight * hit) / sum(weight) AS recall
    FROM fact_recall JOIN cases USING (case_id) WHERE NOT is_swept GROUP BY ALL
)
PIVOT units ON category USING avg(recall) GROUP BY protocol, strategy ORDER BY protocol, strategy

-- Share of old facts that contexts hold at the points of the conversations, by compactions so far: means over groups.
WITH units AS (
    SELECT protocol, strategy, group_id, round, sum(weight * CAST(is_present AS INTEGER)) / sum(weight) AS recall
    FROM looks JOIN cases USING (case_id) WHERE NOT is_swept GROUP BY ALL
)
SELECT protocol, strategy, round, avg(recall) AS recall, count(*) AS groups
FROM units GROUP BY ALL ORDER BY protocol, strategy, round

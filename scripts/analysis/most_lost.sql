-- The conversations of which a strategy loses more than the others do: recall minus the mean of all strategies on the same conversation.
WITH of_case AS (
    SELECT protocol, conversation, strategy, avg(CAST(is_present AS INTEGER)) AS recall, count(*) AS looks
    FROM looks JOIN cases USING (case_id) WHERE NOT is_swept AND family = 'reference' GROUP BY ALL
)
SELECT *, recall - avg(recall) OVER (PARTITION BY protocol, conversation) AS minus_mean
FROM of_case ORDER BY minus_mean LIMIT 20

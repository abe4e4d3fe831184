-- The main table of a report: a row for each protocol and strategy. Means are taken over groups, since the conversations of a group are
-- not independent; `groups` counts those that have a recall. The report adds intervals, which come from resampling. `recall` is of facts with
-- a subject: imported facts have none, and the report shows another recall for them, which `recall_by_category.sql` has without its correction.
WITH headline AS (
    SELECT * FROM cases WHERE NOT is_swept
),
-- Of each fact, the mean over its looks; then over the facts of a group, by weight.
facts_recalled AS (
    SELECT case_id, fact, any_value(weight) AS weight, avg(bound_corrected) AS hit
    FROM looks WHERE bound_corrected IS NOT NULL GROUP BY case_id, fact
),
groups_recalled AS (
    SELECT protocol, strategy, group_id, sum(weight * hit) / sum(weight) AS recall
    FROM facts_recalled JOIN headline USING (case_id) GROUP BY ALL
),
recalls AS (
    SELECT protocol, strategy, count(*) AS groups, avg(recall) AS recall FROM groups_recalled GROUP BY ALL
),
-- The same groups on both sides.
differences AS (
    SELECT own.protocol, own.strategy, avg(own.recall - other.recall) AS recall_minus_reference
    FROM groups_recalled AS own JOIN groups_recalled AS other USING (protocol, group_id)
    WHERE other.strategy = getvariable('reference') AND own.strategy <> other.strategy GROUP BY ALL
),
-- A failed compaction leaves what there was.
group_sizes AS (
    SELECT protocol, strategy, group_id, avg(tokens_retained) AS tokens_left
    FROM compactions JOIN headline USING (case_id) WHERE outcome <> 'skipped' GROUP BY ALL
),
sizes AS (
    SELECT protocol, strategy, avg(tokens_left) AS tokens_left FROM group_sizes GROUP BY ALL
),
group_ends AS (
    SELECT protocol, strategy, group_id, avg(CAST(is_usable AND fate IN ('verbatim', 'carried') AS INTEGER)) AS held_at_end
    FROM facts JOIN headline USING (case_id) WHERE NOT is_decoy AND fate <> 'unstated' GROUP BY ALL
),
ends AS (
    SELECT protocol, strategy, avg(held_at_end) AS held_at_end FROM group_ends GROUP BY ALL
),
group_costs AS (
    SELECT protocol, strategy, group_id, avg(cost_usd) AS cost_usd FROM headline GROUP BY ALL
),
costs AS (
    SELECT protocol, strategy, avg(cost_usd) AS cost_usd FROM group_costs GROUP BY ALL
),
-- The longest waits matter, so these are not averaged by group.
waits AS (
    SELECT protocol, strategy, quantile_cont(waited_ms, 0.95) AS wait_ms_p95
    FROM turns JOIN headline USING (case_id) WHERE waited_ms > 0 GROUP BY ALL
),
address_uses AS (
    SELECT protocol, strategy, avg(CAST(held <> 'out_of_sight' AS INTEGER)) AS recall_at_use
    FROM uses JOIN headline USING (case_id) WHERE use = 'address' GROUP BY ALL
),
strategies AS (
    SELECT protocol, strategy, min(case_id) AS place, count(*) AS conversations FROM headline GROUP BY ALL
)
SELECT
    strategies.protocol,
    strategies.strategy,
    conversations,
    groups,
    recall,
    tokens_left,
    held_at_end,
    costs.cost_usd,
    CASE WHEN strategies.strategy <> 'full' THEN costs.cost_usd / full_costs.cost_usd - 1 END AS cost_against_full,
    wait_ms_p95,
    recall_minus_reference,
    recall_at_use
FROM strategies
LEFT JOIN recalls USING (protocol, strategy)
LEFT JOIN differences USING (protocol, strategy)
LEFT JOIN sizes USING (protocol, strategy)
LEFT JOIN ends USING (protocol, strategy)
LEFT JOIN costs USING (protocol, strategy)
LEFT JOIN costs AS full_costs ON full_costs.protocol = strategies.protocol AND full_costs.strategy = 'full'
LEFT JOIN waits USING (protocol, strategy)
LEFT JOIN address_uses USING (protocol, strategy)
ORDER BY strategies.protocol, place

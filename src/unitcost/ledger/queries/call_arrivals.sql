-- Calls as requests over time: when each began, all of its input, all of its output. `kind` says whether it is one of the
-- traffic: played, flagged, left_out, refused; `reason` why it is not, or what is to be known of it.
WITH told AS (
    SELECT c.*, l.file, k.load_id IS NULL AS again,
        list_sum([c.input_tokens, c.cache_read_tokens, c.cache_write_5m_tokens, c.cache_write_1h_tokens, c.cache_write_tokens,
            c.input_audio_tokens, c.cache_read_audio_tokens, c.input_image_tokens, c.cache_read_image_tokens,
            c.input_video_tokens]) AS prompt,
        list_sum([c.output_tokens, c.citation_tokens, c.output_audio_tokens, c.output_image_tokens,
            c.output_video_tokens]) AS answer
    FROM calls c JOIN loads l ON l.load_id = c.load_id
    LEFT JOIN counted_calls k ON k.load_id = c.load_id AND k.row_number = c.row_number
    WHERE $any_model OR list_contains($models, coalesce(c.model, ''))
),
judged AS (
    SELECT *, CASE
        WHEN again THEN ['left_out', 'tells again what another row tells']
        WHEN status = 'failed' THEN ['left_out', 'the call failed']
        WHEN status = 'cached' THEN ['left_out', 'the gateway answered from its own cache']
        WHEN coalesce(requests, 1) <> 1 OR coalesce(contains(notes, 'sum-of-calls'), false)
            THEN ['refused', 'the row is the sum of several calls: it is not known when each came']
        WHEN called_at IS NULL THEN ['refused', 'it is not told when the call came']
        WHEN prompt IS NULL THEN ['refused', 'its input tokens are not known']
        WHEN answer IS NULL THEN ['refused', 'its output tokens are not known']
        WHEN greatest(prompt, answer) > $most_tokens THEN ['refused', 'more tokens than can be counted']
        WHEN status = 'aborted' THEN ['flagged', 'the answer was broken off: it had at least so many tokens']
        ELSE ['played', ''] END AS verdict
    FROM told
)
SELECT file, row_number, verdict[1], verdict[2], epoch_us(called_at), prompt, answer, coalesce(model, ''), coalesce(key, caller, '')
FROM judged ORDER BY load_id, row_number

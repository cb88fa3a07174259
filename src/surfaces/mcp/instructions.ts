/** What a model is told about the server when it connects. */
export const instructions = `Waymark records what you work on and checks with git what you really changed.

How to work, 3 to 6 calls per task:
1. New work: start_mission with a measurable objective; plan_tasks plans its tasks in one call. To join one: list_missions, then get_context.
2. Before you edit any file: take a planned task with taskman_task_next { claim: true } and start_task { planned_task_id, claim_token }, or start_task a new one with goal, mission_id and areas (folders or globs you will change). It records the state of the work tree; a late start misses your edits.
3. Meanwhile, sparingly: log_decision for a choice with real alternatives, log_issue for a problem (requires_human_review: true for a person), log_milestone at most 5 times.
4. When done: complete_task with status and an honest outcome.summary that names what you edited outside your areas. preview: true shows the verdict first. A failed task can be taken again.
5. Instead of polling: get_context { wait_seconds }. At the end: complete_mission.

What you write is your claim; what changed is measured between start_task and complete_task: commits, uncommitted and new files. "verified": every path is certain; "partial" or "unknown": something could not be seen. In a shared work tree, contested_files are probably others'. A file outside your areas is unexpected: explain it or put it back. scope_match null: nothing was declared.

A refusal says what is wrong and what to do next. Blockers and reviews are resolved by people, not by you.`

/** What a model is told about the server when it connects. */
export const instructions = `Waymark records what you work on and checks with git what you really changed.

How to work with it, 3 to 6 calls per task:
1. New work: start_mission once, with a name and a measurable objective. To continue: list_missions, then get_context for decisions, blockers, phases and tasks.
2. Before you edit any file: start_task with name, goal, mission_id, phase and areas (the folders or globs you intend to change). It records the state of the work tree, so a task started late misses your edits.
3. While working, sparingly: log_decision for a choice with real alternatives, log_issue for a problem (requires_human_review: true when a person must decide), log_milestone at most 5 times.
4. When done: complete_task with status and an honest outcome.summary; phase_complete: true on the last task of a phase.
5. At the end: complete_mission.

What you write is kept as your claim. What changed is measured between start_task and complete_task: commits, uncommitted and new files. "verified" means that both ends were measured completely; "partial" or "unknown" means that something could not be seen, and why. A file outside your areas is reported as unexpected: say why it changed or put it back. scope_match null means that nothing was declared.

A refused call says what is wrong and what to do next. Blockers and reviews are resolved by people, not by you.`

import type { TableStatements } from './table-statements.ts'

/** Attempts, their changes, and the agents' records. */
export const trackTables: TableStatements = ({ text, bytes }) => [
  `create table attempt (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    task_id ${text} not null,
    mission_id ${text},
    phase_id ${text},
    number bigint not null,
    agent_name ${text},
    caller_type ${text},
    actor ${text} not null,
    areas ${text} not null,
    status ${text} not null,
    tree_top ${text} not null,
    snapshot ${text} not null,
    end_snapshot ${text},
    files_added bigint,
    files_modified bigint,
    files_deleted bigint,
    files_renamed bigint,
    scope_matches bigint,
    opened_at bigint not null,
    last_call_at bigint not null,
    closed_at bigint,
    completed_by ${text},
    primary key (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id),
    foreign key (project_id, mission_id) references mission (project_id, id),
    foreign key (project_id, phase_id) references phase (project_id, id)
  )`,
  `create unique index attempt_one_open on attempt (project_id, task_id) where status = 'open'`,
  'create unique index attempt_number on attempt (project_id, task_id, number)',
  'create index attempt_status on attempt (project_id, status, seq)',
  'create index attempt_mission on attempt (project_id, mission_id, status, seq)',
  'create index attempt_phase on attempt (project_id, phase_id, status)',
  'create index attempt_tree on attempt (project_id, tree_top, status, opened_at)',
  `create index attempt_tree_calls on attempt (project_id, tree_top, last_call_at) where status = 'open'`,
  'create index attempt_tree_closed on attempt (project_id, tree_top, closed_at)',
  'create index attempt_closed on attempt (project_id, closed_at)',
  'create index attempt_first on attempt (project_id, mission_id, tree_top, opened_at, seq)',

  `create table landing (
    project_id ${text} not null,
    task_id ${text} not null,
    state ${text} not null,
    branch ${text},
    lines bigint not null,
    total bigint not null,
    commit_id ${text},
    landed_at bigint,
    measured_at bigint not null,
    primary key (project_id, task_id),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index landing_state on landing (project_id, state, task_id)',

  // Files that commands of people wrote into a work tree, each with the snapshot before it.
  `create table tree_write (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    written_at bigint not null,
    tree_top ${text} not null,
    cause ${text} not null,
    subject ${text} not null,
    author ${text} not null,
    task_id ${text},
    mission_id ${text},
    files ${text} not null,
    snapshot ${text} not null,
    end_snapshot ${text},
    primary key (project_id, id)
  )`,
  'create index tree_write_tree on tree_write (project_id, tree_top, written_at)',
  'create index tree_write_subject on tree_write (project_id, subject)',
  'create index tree_write_at on tree_write (project_id, written_at)',

  // Uncommitted files of agents that were lost, by the inbox item about them.
  `create table file_loss (
    project_id ${text} not null references project (id),
    item_id ${text} not null,
    seq bigint not null,
    until bigint not null,
    task_id ${text},
    body ${text} not null,
    primary key (project_id, item_id)
  )`,

  // Short columns first: SQLite reads the long ones only where they are asked for.
  `create table attempt_end (
    project_id ${text} not null,
    attempt_id ${text} not null,
    measurement ${text} not null,
    out_of_scope bigint not null,
    added_lines bigint,
    deleted_lines bigint,
    uncounted_files bigint not null,
    tokens_input bigint,
    tokens_output bigint,
    verdict ${text},
    input_hash ${text} not null,
    summary ${text} not null,
    outcome ${text} not null,
    evidence ${text} not null,
    answer ${text} not null,
    primary key (project_id, attempt_id),
    foreign key (project_id, attempt_id) references attempt (project_id, id)
  )`,

  // Every verdict of an attempt: the last one counts.
  `create table attempt_verdict (
    project_id ${text} not null,
    seq bigint not null,
    attempt_id ${text} not null,
    verdict ${text},
    rules ${text} not null,
    content ${text},
    body ${text} not null,
    cause ${text} not null,
    summary ${text} not null,
    author ${text} not null,
    created_at bigint not null,
    primary key (project_id, seq),
    foreign key (project_id, attempt_id) references attempt (project_id, id)
  )`,
  'create index attempt_verdict_attempt on attempt_verdict (project_id, attempt_id, seq)',
  'create index attempt_verdict_content on attempt_verdict (project_id, content)',

  `create table attempt_change (
    project_id ${text} not null,
    attempt_id ${text} not null,
    position bigint not null,
    path ${text} not null,
    body ${text} not null,
    scope ${text},
    added_lines bigint,
    deleted_lines bigint,
    primary key (project_id, attempt_id, position),
    foreign key (project_id, attempt_id) references attempt (project_id, id)
  )`,
  'create index attempt_change_path on attempt_change (project_id, path)',

  `create table attempt_correction (
    project_id ${text} not null,
    seq bigint not null,
    attempt_id ${text} not null,
    task_id ${text} not null,
    text ${text} not null,
    agent_name ${text},
    author ${text} not null,
    created_at bigint not null,
    primary key (project_id, seq),
    foreign key (project_id, attempt_id) references attempt (project_id, id)
  )`,
  'create index attempt_correction_task on attempt_correction (project_id, task_id, seq)',

  // Diffs of attempts: not in the log, so a replay does not create them.
  `create table attempt_diff (
    project_id ${text} not null references project (id),
    attempt_id ${text} not null,
    sha256 ${text} not null,
    bytes bigint not null,
    cut bigint not null,
    content ${bytes} not null,
    primary key (project_id, attempt_id)
  )`,

  // Files of attempts on other machines, as those machines sent them.
  `create table attempt_files (
    project_id ${text} not null references project (id),
    attempt_id ${text} not null,
    content ${bytes} not null,
    primary key (project_id, attempt_id)
  )`,

  // One row per path: the net difference since the first attempt of the mission.
  `create table mission_change (
    project_id ${text} not null,
    mission_id ${text} not null,
    tree_top ${text} not null,
    path ${text} not null,
    from_path ${text},
    change ${text} not null,
    origin ${text} not null,
    added_lines bigint,
    deleted_lines bigint,
    others bigint not null,
    primary key (project_id, mission_id, tree_top, path),
    foreign key (project_id, mission_id) references mission (project_id, id)
  )`,
  `create index mission_change_file on mission_change (project_id, mission_id, path) where change <> 'none' and origin <> 'imported'`,

  `create table decision (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    task_id ${text} not null,
    attempt_id ${text},
    mission_id ${text},
    phase_id ${text},
    agent_name ${text},
    category ${text} not null,
    question ${text} not null,
    options_considered ${text} not null,
    chosen ${text} not null,
    reasoning ${text} not null,
    trade_offs ${text},
    created_at bigint not null,
    primary key (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index decision_order on decision (project_id, seq)',
  'create index decision_task on decision (project_id, task_id, seq)',
  'create index decision_mission on decision (project_id, mission_id, seq)',
  'create index decision_phase on decision (project_id, phase_id, seq)',
  'create index decision_agent on decision (project_id, agent_name, seq)',
  'create index decision_mission_agent on decision (project_id, mission_id, agent_name, seq)',

  `create table issue (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    task_id ${text} not null,
    attempt_id ${text},
    mission_id ${text},
    phase_id ${text},
    agent_name ${text},
    type ${text} not null,
    description ${text} not null,
    resolution ${text} not null,
    requires_human_review bigint not null,
    created_at bigint not null,
    primary key (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index issue_order on issue (project_id, seq)',
  'create index issue_task on issue (project_id, task_id, seq)',
  'create index issue_mission on issue (project_id, mission_id, seq)',
  'create index issue_phase on issue (project_id, phase_id, seq)',
  'create index issue_agent on issue (project_id, agent_name, seq)',
  'create index issue_mission_agent on issue (project_id, mission_id, agent_name, seq)',

  `create table progress (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    task_id ${text} not null,
    attempt_id ${text},
    mission_id ${text},
    phase_id ${text},
    agent_name ${text},
    message ${text} not null,
    progress double precision,
    metadata ${text},
    created_at bigint not null,
    primary key (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index progress_order on progress (project_id, seq)',
  'create index progress_task on progress (project_id, task_id, seq)',
  'create index progress_mission on progress (project_id, mission_id, seq)',
  'create index progress_phase on progress (project_id, phase_id, seq)',
  'create index progress_agent on progress (project_id, agent_name, seq)',
  'create index progress_mission_agent on progress (project_id, mission_id, agent_name, seq)',
]

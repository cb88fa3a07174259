import type { TableStatements } from './table-statements.ts'

/** Recorded sessions and turns of agents. */
export const sessionsTables: TableStatements = ({ text }) => [
  `create table capture_session (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    client ${text} not null,
    version ${text},
    client_session ${text} not null,
    top ${text} not null,
    source ${text} not null,
    parent_id ${text},
    model ${text},
    transcript ${text},
    status ${text} not null,
    reason ${text},
    turns bigint not null,
    events bigint not null,
    lost bigint not null,
    opened_at bigint not null,
    closed_at bigint,
    forgotten_at bigint,
    primary key (project_id, id)
  )`,
  'create index capture_session_seq on capture_session (project_id, seq)',
  'create index capture_session_client on capture_session (project_id, client_session)',
  `create index capture_session_open on capture_session (project_id) where status = 'open'`,

  `create table turn (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    session_id ${text} not null,
    number bigint not null,
    client_turn ${text},
    agent_id ${text},
    agent_type ${text},
    parent_id ${text},
    client ${text} not null,
    model ${text},
    prompt ${text},
    top ${text} not null,
    tree_top ${text} not null,
    snapshot ${text},
    baseline ${text} not null,
    baseline_at bigint not null,
    status ${text} not null,
    note ${text},
    error ${text},
    usage ${text},
    items ${text},
    coverage ${text},
    lost bigint not null,
    end_snapshot ${text},
    evidence ${text},
    measurement ${text},
    files_added bigint,
    files_modified bigint,
    files_deleted bigint,
    files_renamed bigint,
    added_lines bigint,
    deleted_lines bigint,
    opened_at bigint not null,
    closed_at bigint,
    primary key (project_id, id)
  )`,
  'create index turn_session on turn (project_id, session_id, number)',
  `create index turn_open on turn (project_id, tree_top) where status = 'open'`,
  'create index turn_closed on turn (project_id, tree_top, closed_at)',
  'create index turn_time on turn (project_id, opened_at)',
  'create index turn_ended on turn (project_id, closed_at)',

  `create table turn_change (
    project_id ${text} not null references project (id),
    turn_id ${text} not null,
    position bigint not null,
    path ${text} not null,
    body ${text} not null,
    primary key (project_id, turn_id, position)
  )`,

  `create table edit_report (
    project_id ${text} not null references project (id),
    turn_id ${text} not null,
    position bigint not null,
    path ${text} not null,
    created_at bigint not null,
    body ${text} not null,
    primary key (project_id, turn_id, position)
  )`,

  `create table command_window (
    project_id ${text} not null references project (id),
    turn_id ${text} not null,
    position bigint not null,
    started_at bigint not null,
    ended_at bigint,
    body ${text} not null,
    primary key (project_id, turn_id, position)
  )`,

  `create table capture_link (
    project_id ${text} not null references project (id),
    attempt_id ${text} not null,
    seq bigint not null,
    session_id ${text} not null,
    turn_id ${text},
    agent_id ${text},
    link ${text} not null,
    primary key (project_id, attempt_id)
  )`,
  'create index capture_link_session on capture_link (project_id, session_id)',

  `create table capture_loss (
    project_id ${text} not null references project (id),
    seq bigint not null,
    session_id ${text} not null,
    turn_id ${text},
    from_at bigint not null,
    to_at bigint not null,
    count bigint not null,
    why ${text} not null,
    primary key (project_id, seq)
  )`,
  'create index capture_loss_session on capture_loss (project_id, session_id)',

  `create table hook_event (
    project_id ${text} not null references project (id),
    key ${text} not null,
    created_at bigint not null,
    session_id ${text} not null,
    turn_id ${text},
    body ${text},
    primary key (project_id, key)
  )`,
  'create index hook_event_turn on hook_event (project_id, turn_id, key)',
  'create index hook_event_session on hook_event (project_id, session_id, created_at)',
  'create index hook_event_created_at on hook_event (project_id, created_at)',

  `create table kept_prompt (
    project_id ${text} not null references project (id),
    turn_id ${text} not null,
    content ${text} not null,
    primary key (project_id, turn_id)
  )`,
]

import type { TableStatements } from './table-statements.ts'

/** Processes, runs, their events, and results of commands. */
export const gateTables: TableStatements = ({ text, bytes }) => [
  `create table process (
    project_id ${text} not null references project (id),
    hash ${text} not null,
    id ${text} not null,
    version ${text} not null,
    definition ${text} not null,
    seq bigint not null,
    primary key (project_id, hash)
  )`,

  `create table run (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    process_hash ${text} not null,
    process_id ${text} not null,
    process_version ${text} not null,
    process_name ${text} not null,
    mission_id ${text},
    task_id ${text},
    status ${text} not null,
    state ${text} not null,
    revision bigint not null,
    context ${text} not null,
    created_by ${text} not null,
    created_at bigint not null,
    updated_at bigint not null,
    ended_at bigint,
    primary key (project_id, id),
    foreign key (project_id, process_hash) references process (project_id, hash),
    foreign key (project_id, mission_id) references mission (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index run_order on run (project_id, seq)',
  'create index run_status on run (project_id, status, seq)',
  'create index run_mission on run (project_id, mission_id, status)',
  'create index run_task on run (project_id, task_id, status)',

  `create table run_event (
    project_id ${text} not null,
    run_id ${text} not null,
    revision bigint not null,
    id ${text} not null,
    seq bigint not null,
    kind ${text} not null,
    event ${text} not null,
    payload ${text} not null,
    from_state ${text} not null,
    to_state ${text} not null,
    state_changed bigint not null,
    artifacts ${text} not null,
    unsatisfied ${text} not null,
    role ${text},
    author ${text} not null,
    created_at bigint not null,
    identity ${text},
    primary key (project_id, run_id, revision),
    foreign key (project_id, run_id) references run (project_id, id)
  )`,
  'create unique index run_event_id on run_event (project_id, id)',
  'create index run_event_time on run_event (project_id, created_at)',

  `create table run_visit (
    project_id ${text} not null,
    run_id ${text} not null,
    state ${text} not null,
    count bigint not null,
    first bigint not null,
    last bigint not null,
    primary key (project_id, run_id, state),
    foreign key (project_id, run_id) references run (project_id, id)
  )`,

  `create table run_artifact (
    project_id ${text} not null,
    run_id ${text} not null,
    type ${text} not null,
    path ${text} not null,
    bytes bigint not null,
    sha256 ${text} not null,
    stamp ${text} not null,
    content ${text},
    revision bigint not null,
    author ${text} not null,
    identity ${text},
    primary key (project_id, run_id, type, path),
    foreign key (project_id, run_id) references run (project_id, id)
  )`,

  `create table run_refusal (
    project_id ${text} not null,
    run_id ${text} not null,
    seq bigint not null,
    event ${text} not null,
    code ${text} not null,
    message ${text} not null,
    missing ${text} not null,
    state ${text} not null,
    revision bigint not null,
    role ${text},
    author ${text} not null,
    created_at bigint not null,
    tried ${text},
    primary key (project_id, run_id, seq),
    foreign key (project_id, run_id) references run (project_id, id)
  )`,
  'create index run_refusal_time on run_refusal (project_id, created_at)',

  `create table run_approval (
    project_id ${text} not null,
    run_id ${text} not null,
    seq bigint not null,
    role ${text} not null,
    artifact_type ${text},
    content ${text} not null,
    reason ${text},
    author ${text} not null,
    created_at bigint not null,
    identity ${text},
    withdrawn_at bigint,
    primary key (project_id, run_id, seq),
    foreign key (project_id, run_id) references run (project_id, id)
  )`,

  `create table command_result (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    run_id ${text},
    command_line ${text} not null,
    folder ${text} not null,
    tree ${text} not null,
    status ${text} not null,
    exit_code bigint,
    output ${text} not null,
    tree_held bigint not null,
    runner ${text} not null,
    started_at bigint not null,
    ended_at bigint,
    by_runner bigint not null default 0,
    primary key (project_id, id)
  )`,
  'create index command_result_tree on command_result (project_id, command_line, folder, tree, seq)',
  'create index command_result_last on command_result (project_id, command_line, folder, seq)',
  'create index command_result_status on command_result (project_id, status)',

  `create table command_lease (
    project_id ${text} not null references project (id),
    command_id ${text} not null,
    until bigint not null,
    primary key (project_id, command_id)
  )`,

  // Output that is too long for the log. It may be removed; the log keeps its hash.
  `create table command_output (
    project_id ${text} not null references project (id),
    command_id ${text} not null,
    sha256 ${text} not null,
    bytes bigint not null,
    content ${bytes} not null,
    removed_at bigint,
    primary key (project_id, command_id)
  )`,

  `create table guarded_command (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    guarded_at bigint not null,
    top ${text} not null,
    client ${text} not null,
    client_session ${text},
    commands ${text} not null,
    answer ${text} not null,
    files ${text} not null,
    agents ${text} not null,
    snapshot ${text},
    missing ${text},
    bytes bigint not null,
    primary key (project_id, id)
  )`,
  'create index guarded_command_at on guarded_command (project_id, guarded_at)',
]

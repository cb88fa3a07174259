import type { TableStatements } from './table-statements.ts'

export const searchStartLength = 400

/** The beginning of a task's text, as its index has it. PostgreSQL indexes 2,704 bytes, so 400 of the longest characters fit. */
export const searchStart = `substr(search, 1, ${searchStartLength + 1})`

/**
 * The groups of three characters in the texts of tasks, by a task's `seq`: only on SQLite. It is a first selection, and nothing is
 * removed from it: a changed text leaves its old groups, and projects in one file share numbers. It has the tasks of the log up to
 * its end: tasks are added together after a commit, because each time costs as much as planning a task.
 */
export const taskSearchTables: readonly string[] = [
  `create virtual table task_search using fts5 (
    search, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1')`,
  'create table task_search_end (project_id text not null primary key, seq bigint not null)',
]

/** Missions, phases, milestones, tasks and their notes. */
export const planTables: TableStatements = ({ text }) => [
  `create table mission (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    kind ${text} not null,
    name ${text} not null,
    objective ${text},
    description ${text},
    profile ${text},
    total_phases bigint not null,
    scope ${text},
    constraints ${text},
    done_when ${text},
    status ${text} not null,
    summary ${text},
    achievements ${text} not null,
    limitations ${text} not null,
    files_changed bigint not null,
    tokens_input bigint not null,
    tokens_output bigint not null,
    created_at bigint not null,
    completed_at bigint,
    search ${text} not null default '',
    primary key (project_id, id)
  )`,
  'create index mission_order on mission (project_id, seq)',
  `create index mission_open on mission (project_id, seq) where status in ('pending', 'in_progress')`,
  `create index mission_open_workflow on mission (project_id, id) where kind = 'workflow' and summary is null`,

  `create table phase (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    mission_id ${text},
    number bigint,
    name ${text} not null,
    status ${text} not null,
    sort_order bigint,
    first_start bigint,
    last_end bigint,
    created_at bigint not null,
    completed_at bigint,
    primary key (project_id, id),
    foreign key (project_id, mission_id) references mission (project_id, id)
  )`,
  'create unique index phase_number on phase (project_id, mission_id, number)',
  'create index phase_order on phase (project_id, seq)',

  `create table milestone (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    phase_id ${text} not null,
    name ${text},
    criterion ${text},
    reached bigint not null,
    created_at bigint not null,
    primary key (project_id, id),
    foreign key (project_id, phase_id) references phase (project_id, id)
  )`,
  'create index milestone_phase on milestone (project_id, phase_id, seq)',

  `create table task (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    mission_id ${text},
    phase_id ${text},
    milestone_id ${text},
    parent_task_id ${text},
    name ${text} not null,
    goal ${text},
    step ${text},
    role ${text},
    areas ${text} not null,
    done_when ${text},
    status ${text} not null,
    resolution ${text},
    sort_order bigint,
    creator ${text},
    last_attempt_id ${text},
    claim_agent ${text},
    claim_actor ${text},
    claim_token_hash ${text},
    claimed_at bigint,
    claim_expires_at bigint,
    open_dependencies bigint not null,
    readiness ${text} not null,
    height bigint not null,
    order_phase bigint not null,
    order_phase_seq bigint not null,
    order_own bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    open_items bigint not null default 0,
    claim_connection ${text},
    assignee ${text},
    search ${text} not null default '',
    in_open_plan bigint not null,
    primary key (project_id, id),
    foreign key (project_id, mission_id) references mission (project_id, id),
    foreign key (project_id, phase_id) references phase (project_id, id),
    foreign key (project_id, milestone_id) references milestone (project_id, id),
    foreign key (project_id, parent_task_id) references task (project_id, id)
  )`,
  // An expression, so that this index leads no other query.
  'create index task_newest on task (project_id, (seq + 0))',
  'create index task_parent on task (project_id, parent_task_id, seq) where parent_task_id is not null',
  // With the beginning of the text: SQLite searches most tasks without reading their rows.
  `create index task_order on task (project_id, in_open_plan, order_phase, order_phase_seq, order_own, seq, (${searchStart}))`,
  'create index task_readiness on task (project_id, readiness, in_open_plan, order_phase, order_phase_seq, order_own, seq)',
  'create index task_plan on task (project_id, mission_id, order_phase, order_phase_seq, order_own, seq)',
  'create index task_plan_readiness on task (project_id, mission_id, readiness, order_phase, order_phase_seq, order_own, seq)',
  'create index task_phase on task (project_id, phase_id, order_phase, order_phase_seq, order_own, seq)',
  'create index task_milestone on task (project_id, milestone_id, order_phase, order_phase_seq, order_own, seq) where milestone_id is not null',
  'create index task_role on task (project_id, role, in_open_plan, order_phase, order_phase_seq, order_own, seq, mission_id, readiness)',
  `create index task_next on task (project_id, readiness, in_open_plan, height desc, order_phase, order_phase_seq, order_own, seq, role) where readiness = 'ready'`,
  `create index task_plan_next on task (project_id, mission_id, readiness, height desc, order_phase, order_phase_seq, order_own, seq, role) where readiness = 'ready'`,
  `create index task_role_next on task (project_id, readiness, role, in_open_plan, height desc, order_phase, order_phase_seq, order_own, seq) where readiness = 'ready'`,
  `create index task_tried on task (project_id, readiness, in_open_plan) where last_attempt_id is not null and readiness = 'ready'`,
  'create index task_claim on task (project_id, claim_expires_at) where claim_expires_at is not null',
  `create index task_dropped on task (project_id, mission_id, in_open_plan) where resolution = 'dropped'`,
  'create index task_updated on task (project_id, updated_at)',

  `create table task_place (
    project_id ${text} not null,
    kind ${text} not null,
    place ${text} not null,
    task_seq bigint not null,
    task_id ${text} not null,
    status ${text} not null,
    primary key (project_id, kind, place, task_seq),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index task_place_task on task_place (project_id, task_id, kind, place)',

  `create table task_count (
    project_id ${text} not null references project (id),
    kind ${text} not null,
    place ${text} not null,
    status ${text} not null,
    tasks bigint not null,
    primary key (project_id, kind, place, status)
  )`,

  `create table task_dependency (
    project_id ${text} not null,
    task_id ${text} not null,
    depends_on_id ${text} not null,
    seq bigint not null,
    primary key (project_id, task_id, depends_on_id),
    foreign key (project_id, task_id) references task (project_id, id),
    foreign key (project_id, depends_on_id) references task (project_id, id)
  )`,
  'create index task_dependency_on on task_dependency (project_id, depends_on_id, task_id)',

  `create table role (
    project_id ${text} not null references project (id),
    role ${text} not null,
    seq bigint not null,
    primary key (project_id, role)
  )`,

  // Every token of a claim, also after its end.
  `create table claim_token (
    project_id ${text} not null,
    token_hash ${text} not null,
    task_id ${text} not null,
    primary key (project_id, token_hash),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,

  `create table note (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    task_id ${text} not null,
    content ${text} not null,
    kind ${text},
    role ${text},
    author ${text} not null,
    created_at bigint not null,
    primary key (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id)
  )`,
  'create index note_task on note (project_id, task_id, seq)',
]

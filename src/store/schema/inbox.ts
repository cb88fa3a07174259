import type { TableStatements } from './table-statements.ts'

/** Items of the inbox, and the last answers of people to commands. */
export const inboxTables: TableStatements = ({ text }) => [
  `create table inbox_item (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    kind ${text} not null,
    mission_id ${text},
    phase_id ${text},
    task_id ${text},
    attempt_id ${text},
    issue_id ${text},
    reason ${text} not null,
    paths ${text} not null,
    opened_by ${text} not null,
    opened_at bigint not null,
    status ${text} not null,
    answer ${text},
    closed_by ${text},
    closed_at bigint,
    run_id ${text},
    request ${text},
    request_hash ${text},
    closed_kind ${text},
    action ${text},
    primary key (project_id, id),
    foreign key (project_id, task_id) references task (project_id, id),
    foreign key (project_id, issue_id) references issue (project_id, id)
  )`,
  // By the hash of the command's content: approvals for each machine, other answers for all; without an item one was revoked.
  `create table command_answer (
    project_id ${text} not null references project (id),
    hash ${text} not null,
    machine_id ${text} not null,
    seq bigint not null,
    item_id ${text},
    primary key (project_id, hash, machine_id)
  )`,
  'create index inbox_item_order on inbox_item (project_id, seq)',
  'create index inbox_item_status on inbox_item (project_id, status, seq)',
  'create index inbox_item_mission on inbox_item (project_id, mission_id, status, kind)',
  'create index inbox_item_task on inbox_item (project_id, task_id, seq)',
  'create index inbox_item_attempt on inbox_item (project_id, attempt_id, seq)',
  'create index inbox_item_issue on inbox_item (project_id, issue_id, seq)',
  'create index inbox_item_run on inbox_item (project_id, run_id, status, seq)',
  'create index inbox_item_request on inbox_item (project_id, request_hash, status, seq)',
  'create index inbox_item_closed on inbox_item (project_id, closed_at)',
]

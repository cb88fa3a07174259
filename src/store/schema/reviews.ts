import type { TableStatements } from './table-statements.ts'

/** Reviews, comments, replies, drafts, and contents of reviewed files. */
export const reviewsTables: TableStatements = ({ text, bytes }) => [
  `create table review (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    subject ${text} not null,
    task_id ${text},
    mission_id ${text},
    action ${text} not null,
    text ${text},
    content ${text} not null,
    author_id ${text} not null,
    author_name ${text} not null,
    tasks ${text} not null,
    accepted ${text} not null,
    created_at bigint not null,
    primary key (project_id, id)
  )`,
  'create index review_subject on review (project_id, subject, seq)',
  'create index review_mission on review (project_id, mission_id, seq)',

  `create table review_comment (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    position bigint not null,
    review_id ${text} not null,
    subject ${text} not null,
    task_id ${text},
    mission_id ${text},
    path ${text},
    tree ${text},
    side ${text} not null,
    line bigint,
    content ${text},
    quoted ${text},
    kind ${text} not null,
    text ${text} not null,
    author_id ${text} not null,
    author_name ${text} not null,
    created_at bigint not null,
    primary key (project_id, id)
  )`,
  'create index review_comment_task on review_comment (project_id, task_id, seq)',
  'create index review_comment_mission on review_comment (project_id, mission_id, seq)',
  'create index review_comment_subject on review_comment (project_id, subject, seq)',

  `create table review_reply (
    project_id ${text} not null references project (id),
    id ${text} not null,
    seq bigint not null,
    comment_id ${text} not null,
    task_id ${text},
    mission_id ${text},
    attempt_id ${text},
    text ${text} not null,
    done bigint not null,
    author ${text} not null,
    is_person bigint not null,
    agent_name ${text},
    created_at bigint not null,
    primary key (project_id, id)
  )`,
  'create index review_reply_comment on review_reply (project_id, comment_id, seq)',

  // Unsent drafts and viewed files of each person: not in the log.
  `create table review_draft (
    project_id ${text} not null references project (id),
    id ${text} not null,
    owner_id ${text} not null,
    subject ${text} not null,
    body ${text} not null,
    created_at bigint not null,
    primary key (project_id, id)
  )`,
  'create index review_draft_owner on review_draft (project_id, owner_id, subject, created_at)',

  `create table review_viewed (
    project_id ${text} not null references project (id),
    owner_id ${text} not null,
    subject ${text} not null,
    place ${text} not null,
    content ${text} not null,
    viewed_at bigint not null,
    primary key (project_id, owner_id, subject, place)
  )`,
  'create index review_viewed_place on review_viewed (project_id, owner_id, place)',

  `create table review_inspected (
    project_id ${text} not null references project (id),
    owner_id ${text} not null,
    inspected_at bigint not null,
    primary key (project_id, owner_id)
  )`,

  `create table file_content (
    project_id ${text} not null references project (id),
    id ${text} not null,
    size bigint not null,
    content ${bytes} not null,
    kept_at bigint not null,
    primary key (project_id, id)
  )`,
]

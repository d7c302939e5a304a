-- Issues, projects, comments, what they refer to, the events of their changes, and the inbox.

create extension if not exists pg_trgm;

alter table workspaces add column last_issue_number int not null default 0;
alter table teams add column last_issue_number int not null default 0;

create table labels (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  name         text not null,
  color        text,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  unique (workspace_id, id)
);

create table cycles (
  id           text primary key,
  workspace_id text not null,
  team_id      text not null,
  name         text not null,
  starts_at    timestamptz(3),
  ends_at      timestamptz(3),
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  unique (workspace_id, id),
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade
);
create index cycles_team on cycles (team_id, id desc);

create table initiatives (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  name         text not null,
  description  text not null default '',
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  unique (workspace_id, id)
);

create table projects (
  id            text primary key,
  workspace_id  text not null references workspaces on delete cascade,
  title         text not null,
  description   text not null,
  status        text not null,
  priority      text not null,
  health_status text,
  owner_id      text references users on delete set null,
  lead_id       text references users on delete set null,
  initiative_id text,
  personal      boolean not null,
  start_date    timestamptz(3),
  target_date   timestamptz(3),
  completed_at  timestamptz(3),
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null,
  unique (workspace_id, id),
  foreign key (workspace_id, initiative_id) references initiatives (workspace_id, id) on delete set null (initiative_id)
);
create index projects_initiative on projects (initiative_id);

create table project_members (
  project_id text not null references projects on delete cascade,
  user_id    text not null references users on delete cascade,
  primary key (project_id, user_id)
);
create table project_teams (
  workspace_id text not null,
  project_id   text not null,
  team_id      text not null,
  primary key (project_id, team_id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade,
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade
);
create index project_teams_team on project_teams (team_id);
create table project_labels (
  workspace_id text not null,
  project_id   text not null,
  label_id     text not null,
  primary key (project_id, label_id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade,
  foreign key (workspace_id, label_id) references labels (workspace_id, id) on delete cascade
);
create index project_labels_label on project_labels (label_id);

create table milestones (
  id           text primary key,
  workspace_id text not null,
  project_id   text not null,
  name         text not null,
  target_date  timestamptz(3),
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  unique (workspace_id, id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);
create index milestones_project on milestones (project_id, id desc);

create table issues (
  id                  text primary key,
  workspace_id        text not null references workspaces on delete cascade,
  code                text not null,
  title               text not null,
  description         text not null,
  status              text not null,
  priority            text not null,
  type                text not null,
  team_id             text,
  project_id          text,
  milestone_id        text,
  cycle_id            text,
  parent_id           text,
  reporter_id         text references users on delete set null,
  assignee_id         text references users on delete set null,
  delegate_id         text references users on delete set null,
  delegation_revision int not null,
  time_estimate       double precision,
  due_date            timestamptz(3),
  completed_at        timestamptz(3),
  personal            boolean not null,
  sort_order          double precision not null,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,
  unique (workspace_id, id),
  check (not personal or team_id is null),
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete set null (team_id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete set null (project_id),
  foreign key (workspace_id, milestone_id) references milestones (workspace_id, id) on delete set null (milestone_id),
  foreign key (workspace_id, cycle_id) references cycles (workspace_id, id) on delete set null (cycle_id),
  foreign key (workspace_id, parent_id) references issues (workspace_id, id) on delete set null (parent_id)
);
-- One for each filter of the list, newest first.
create index issues_newest on issues (workspace_id, id desc);
create index issues_status on issues (workspace_id, status, id desc);
create index issues_team on issues (team_id, id desc);
create index issues_project on issues (project_id, id desc);
create index issues_assignee on issues (assignee_id, id desc);
create index issues_delegate on issues (delegate_id, id desc) where delegate_id is not null;
create index issues_milestone on issues (milestone_id) where milestone_id is not null;
create index issues_cycle on issues (cycle_id) where cycle_id is not null;
create index issues_parent on issues (parent_id) where parent_id is not null;
create index issues_progress on issues (project_id, personal, status);
create index issues_text on issues using gin ((code || ' ' || title || ' ' || description) gin_trgm_ops);

-- Every code an issue has or had.
create table issue_codes (
  workspace_id text not null,
  code         text not null,
  issue_id     text not null,
  primary key (workspace_id, code),
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade
);
create index issue_codes_issue on issue_codes (issue_id);

create table issue_labels (
  workspace_id text not null,
  issue_id     text not null,
  label_id     text not null,
  primary key (issue_id, label_id),
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade,
  foreign key (workspace_id, label_id) references labels (workspace_id, id) on delete cascade
);
create index issue_labels_label on issue_labels (label_id, issue_id desc);

create table issue_blocks (
  workspace_id text not null,
  blocker_id   text not null,
  blocked_id   text not null,
  primary key (blocker_id, blocked_id),
  check (blocker_id <> blocked_id),
  foreign key (workspace_id, blocker_id) references issues (workspace_id, id) on delete cascade,
  foreign key (workspace_id, blocked_id) references issues (workspace_id, id) on delete cascade
);
create index issue_blocks_blocked on issue_blocks (blocked_id, blocker_id);

-- What was changed in an issue. What was written while it was personal stays its owner's.
create table issue_changes (
  id           text primary key,
  workspace_id text not null,
  issue_id     text not null,
  actor_id     text references users on delete set null,
  personal     boolean not null,
  changes      jsonb not null,
  created_at   timestamptz(3) not null,
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade
);
create index issue_changes_newest on issue_changes (issue_id, id desc);

create table comments (
  id                 text primary key,
  workspace_id       text not null,
  issue_id           text,
  project_id         text,
  parent_comment_id  text references comments on delete cascade,
  author_id          text references users on delete set null,
  text               text not null,
  mentioned_user_ids text[] not null,
  is_resolved        boolean not null,
  internal           boolean not null,
  edited_at          timestamptz(3),
  created_at         timestamptz(3) not null,
  updated_at         timestamptz(3) not null,
  check ((issue_id is null) <> (project_id is null)),
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade,
  foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade
);
create index comments_issue on comments (issue_id, id) where issue_id is not null;
create index comments_project on comments (project_id, id) where project_id is not null;
create index comments_parent on comments (parent_comment_id) where parent_comment_id is not null;

-- What happened, written in the transaction in which it happened. `body` is the envelope without what each receiver
-- gets of its own; `team_ids` are the teams whose receivers may have it, none for an item without a team.
create table events (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  type         text not null,
  action       text not null,
  team_ids     text[] not null,
  body         json not null,
  created_at   timestamptz(3) not null
);
create index events_newest on events (workspace_id, id desc);

-- An entry goes with what it is about.
create table inbox_entries (
  id           text primary key,
  workspace_id text not null,
  user_id      text not null,
  kind         text not null,
  issue_id     text references issues on delete cascade,
  project_id   text references projects on delete cascade,
  comment_id   text references comments on delete cascade,
  actor_id     text references users on delete set null,
  read_at      timestamptz(3),
  created_at   timestamptz(3) not null,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index inbox_entries_newest on inbox_entries (workspace_id, user_id, id desc);
create index inbox_entries_unread on inbox_entries (workspace_id, user_id, id desc) where read_at is null;
create index inbox_entries_issue on inbox_entries (issue_id) where issue_id is not null;
create index inbox_entries_project on inbox_entries (project_id) where project_id is not null;
create index inbox_entries_comment on inbox_entries (comment_id) where comment_id is not null;

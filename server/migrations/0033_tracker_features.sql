-- Templates, duplicates, watchers and reactions. Only new tables: the previous version keeps running beside them.

create table issue_templates (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  team_id      text, -- null: of the whole workspace
  name         text not null,
  title        text not null,
  description  text not null,
  priority     text not null,
  type         text not null,
  label_ids    text[] not null, -- deleted labels are left out when read
  "default"    boolean not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade
);
create index issue_templates_newest on issue_templates (workspace_id, id desc);
create index issue_templates_team on issue_templates (team_id, id desc) where team_id is not null;
create unique index issue_templates_default on issue_templates (workspace_id, coalesce(team_id, '')) where "default";

create table issue_duplicates (
  issue_id        text primary key,
  workspace_id    text not null,
  duplicate_of_id text not null,
  created_at      timestamptz(3) not null,
  check (issue_id <> duplicate_of_id),
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade,
  foreign key (workspace_id, duplicate_of_id) references issues (workspace_id, id) on delete cascade
);
create index issue_duplicates_of on issue_duplicates (duplicate_of_id, issue_id desc);

-- An issue without any row here, such as each one from before this migration, is watched by the people in its past:
-- reporter, assignee, commenters, mentioned users and delegators. Its first change of watchers stores them.
create table issue_watchers (
  issue_id     text not null,
  user_id      text not null,
  workspace_id text not null,
  state        text not null, -- watching; muted: is not added again; stopped: is added again by the next cause
  created_at   timestamptz(3) not null,
  primary key (issue_id, user_id),
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index issue_watchers_user on issue_watchers (workspace_id, user_id);

create table reactions (
  comment_id   text not null references comments on delete cascade,
  name         text not null,
  user_id      text not null references users on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  created_at   timestamptz(3) not null,
  primary key (comment_id, name, user_id)
);
create index reactions_user on reactions (user_id);
create index reactions_workspace on reactions (workspace_id);

-- People, their logins, workspaces, teams, what managers can look up, and rate limits.

create table users (
  id            text primary key,
  user_kind     text not null check (user_kind in ('human', 'application')),
  agent_kind    text check (agent_kind in ('deployment', 'personal', 'app')),
  display_name  text not null,
  email         text,
  password_hash text,
  created_at    timestamptz(3) not null,
  check ((user_kind = 'human') = (agent_kind is null)),
  check ((user_kind = 'human') = (email is not null))
);
create unique index users_email on users (email);

create table logins (
  token_hash   bytea primary key,
  user_id      text not null references users on delete cascade,
  created_at   timestamptz(3) not null,
  last_used_at timestamptz(3) not null
);
create index logins_user on logins (user_id);
create index logins_last_used on logins (last_used_at);

create table workspaces (
  id         text primary key,
  name       text not null,
  guidance   text not null default '',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table memberships (
  workspace_id text not null references workspaces on delete cascade,
  user_id      text not null references users on delete cascade,
  role         text not null check (role in ('owner', 'admin', 'member')),
  joined_at    timestamptz(3) not null,
  primary key (workspace_id, user_id)
);
create index memberships_user on memberships (user_id);
create index memberships_newest on memberships (workspace_id, joined_at desc, user_id desc);

create table invitations (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  email        text not null,
  role         text not null check (role in ('owner', 'admin', 'member')),
  token_hash   bytea not null,
  invited_by   text references users on delete set null,
  created_at   timestamptz(3) not null,
  expires_at   timestamptz(3) not null
);
create unique index invitations_token on invitations (token_hash);
create index invitations_newest on invitations (workspace_id, id desc);
create index invitations_email on invitations (email);

create table teams (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  name         text not null,
  key          text not null,
  guidance     text not null default '',
  repositories jsonb not null default '[]',
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  unique (workspace_id, id)
);
create unique index teams_key on teams (workspace_id, key);

-- The keys hold every team member inside the team's own workspace.
create table team_members (
  workspace_id text not null,
  team_id      text not null,
  user_id      text not null,
  joined_at    timestamptz(3) not null,
  primary key (team_id, user_id),
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index team_members_user on team_members (workspace_id, user_id);
create index team_members_newest on team_members (team_id, joined_at desc, user_id desc);

create table audit_entries (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  action       text not null,
  actor_id     text references users on delete set null,
  subject_id   text not null,
  details      jsonb not null,
  created_at   timestamptz(3) not null
);
create index audit_entries_newest on audit_entries (workspace_id, id desc);
create index audit_entries_by_action on audit_entries (workspace_id, action, id desc);

-- GCRA: the time (ms since 1970) at which a key has used nothing of its allowance.
create unlogged table rate_limits (
  key      text primary key,
  clear_at double precision not null
);
create index rate_limits_clear_at on rate_limits (clear_at);

-- Small facts about the installation itself, such as the proof that the secret key is the right one.
create table settings (
  name  text primary key,
  value text not null
);

-- What the web app asks for: more ways to filter lists, and views that people keep.

-- Sessions that go on, and those that are over, newest first.
create index agent_sessions_open on agent_sessions (workspace_id, id desc) where ended_at is null;
create index agent_sessions_ended on agent_sessions (workspace_id, id desc) where ended_at is not null;

-- Few issues are urgent. Of the types each has its share, so that the newest of one are soon found among all.
create index issues_priority on issues (workspace_id, priority, id desc);

-- The issues screen as somebody set it up. Whose owner has left is shared and has none; views/ sees to that.
create table views (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  owner_id     text references users on delete set null,
  name         text not null,
  shared       boolean not null,
  query        text not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null
);
create index views_shared on views (workspace_id, id desc) where shared;
create index views_owner on views (owner_id, workspace_id, id desc);

-- What people connected, and when it was last used, to the minute.
alter table grants add column last_used_at timestamptz(3);
create index grants_programs on grants (user_id, id desc) where user_id is not null;
create index refresh_tokens_grant on refresh_tokens (grant_id) where rotated_at is null;

-- Agents that run inside the service: the built-in one of each workspace, and those that people make for themselves.

create table inside_agents (
  user_id      text primary key references users on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  owner_id     text references users on delete cascade, -- null for the built-in agent
  instructions text not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  deleted_at   timestamptz(3)
);
create unique index inside_agents_built_in on inside_agents (workspace_id) where owner_id is null;
create index inside_agents_owner on inside_agents (owner_id, workspace_id, user_id desc);

-- The id of a workspace is as unique as any; with another prefix it is that of a user.
insert into users (id, user_kind, agent_kind, display_name, created_at)
select 'usr_' || substr(id, 5), 'application', 'deployment', 'Baton', created_at from workspaces;
insert into inside_agents (user_id, workspace_id, instructions, created_at, updated_at)
select 'usr_' || substr(id, 5), id, '', created_at, created_at from workspaces;

-- Whose personal agent works in it; nobody else may write there.
alter table agent_sessions add column owner_id text;

-- What such an agent has yet to do: a session was opened (seq 0), or a person wrote in it. Written with what caused it,
-- deleted when it is done. Of one session only the first piece is worked on. A lease that ends leaves it to others.
create table agent_work (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  session_id   text not null references agent_sessions on delete cascade,
  cause_seq    int not null,
  attempts     int not null default 0,
  claim_id     text,
  lease_until  timestamptz(3),
  created_at   timestamptz(3) not null,
  unique (session_id, cause_seq)
);

-- What likely duplicates are found by: words as a reader takes them, and titles that look alike.
create index issues_words on issues using gin (to_tsvector('english', title || ' ' || left(description, 2000)));
create index issues_title on issues using gin (title gin_trgm_ops);

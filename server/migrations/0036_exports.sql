-- Archives of whole workspaces, and workspaces made from them.

create table exports (
  id            text primary key,
  workspace_id  text not null references workspaces on delete cascade,
  creator_id    text references users on delete set null,
  state         text not null, -- running, ready, failed
  bytes         bigint,
  claim_id      text, -- of the worker that writes it
  claimed_until timestamptz(3),
  attempts      int not null default 0,
  created_at    timestamptz(3) not null,
  deleted_at    timestamptz(3) -- the row stays to be counted among those of a day
);
create index exports_newest on exports (workspace_id, id desc);
create unique index exports_running on exports (workspace_id) where state = 'running';
create index exports_created on exports (created_at);

create table restores (
  id            text primary key,
  user_id       text not null references users on delete cascade,
  state         text not null, -- reading, running, done, failed
  workspace_id  text references workspaces on delete set null,
  building_id   text, -- the workspace that is being written, which has no member yet
  problems      jsonb not null default '[]',
  claim_id      text,
  claimed_until timestamptz(3), -- while it is uploaded, and while a worker has it; null: waits for a worker
  attempts      int not null default 0,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null
);
create index restores_user on restores (user_id, id desc);
create unique index restores_running on restores (user_id) where state in ('reading', 'running');
create index restores_created on restores (created_at);

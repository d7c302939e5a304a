-- Agent apps: what third parties register from a manifest. Each has an endpoint for its webhook.

alter table endpoints add column app_id text; -- null for the webhooks of a workspace
alter table deliveries add column installation_id text; -- of the app it goes to, when it happened

create table agent_apps (
  id                 text primary key,
  workspace_id       text not null references workspaces on delete cascade,
  client_id          text not null unique,
  client_secret_hash bytea not null,
  owner_user_id      text references users on delete set null,
  endpoint_id        text not null references endpoints,
  name               text not null,
  description        text,
  icon_url           text,
  developer_name     text not null,
  developer_url      text,
  redirect_uris      text[] not null,
  requested_scopes   text[] not null,
  created_at         timestamptz(3) not null,
  updated_at         timestamptz(3) not null,
  deleted_at         timestamptz(3)
);
create index agent_apps_newest on agent_apps (workspace_id, id desc) where deleted_at is null;

alter table inbox_entries add column app_id text references agent_apps on delete cascade;
create index inbox_entries_app on inbox_entries (app_id) where app_id is not null;

-- What was found at an app's icon_url; without bytes nothing usable was.
create table app_icons (
  app_id     text primary key references agent_apps on delete cascade,
  url        text not null,
  type       text,
  bytes      bytea,
  fetched_at timestamptz(3) not null
);

-- An app in a workspace: its user, its scopes, and the teams it reaches. One at a time for each app.
create table installations (
  id               text primary key,
  workspace_id     text not null references workspaces on delete cascade,
  app_id           text not null references agent_apps on delete cascade,
  app_user_id      text not null references users,
  all_teams        boolean not null,
  team_ids         text[] not null,
  scopes           text[] not null, -- as approved; what the manifest no longer asks for does not count
  coverage_changes int not null default 0,
  installed_by     text references users on delete set null,
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  revoked_at       timestamptz(3)
);
create unique index installations_active on installations (app_id) where revoked_at is null;
create index installations_newest on installations (workspace_id, id desc) where revoked_at is null;
create unique index installations_app_user on installations (app_user_id);

-- Programs of people, such as MCP clients, that registered themselves. They have no secret.
create table oauth_clients (
  id            text primary key,
  name          text not null,
  redirect_uris text[] not null,
  created_at    timestamptz(3) not null,
  used_at       timestamptz(3)
);
create index oauth_clients_unused on oauth_clients (created_at) where used_at is null;

-- Somebody was asked for consent. `client_id` is of an app or of a program of people.
create table oauth_requests (
  id             text primary key,
  client_id      text not null,
  user_id        text not null references users on delete cascade,
  redirect_uri   text not null,
  scopes         text[] not null,
  state          text,
  code_challenge text not null,
  expires_at     timestamptz(3) not null,
  decided_at     timestamptz(3)
);
create index oauth_requests_expired on oauth_requests (expires_at);

-- What was consented to. An app's grant names the installation, a person's program the person and the workspace.
create table grants (
  id              text primary key,
  workspace_id    text not null references workspaces on delete cascade,
  client_id       text not null,
  installation_id text references installations on delete cascade,
  user_id         text references users on delete cascade,
  scopes          text[] not null,
  created_at      timestamptz(3) not null,
  expires_at      timestamptz(3) not null,
  ended_at        timestamptz(3)
);
create index grants_installation on grants (installation_id) where ended_at is null;
create index grants_person on grants (user_id, workspace_id) where user_id is not null;

-- Codes and tokens are stored as hashes only.
create table oauth_codes (
  hash           bytea primary key,
  grant_id       text not null references grants on delete cascade,
  client_id      text not null,
  redirect_uri   text not null,
  code_challenge text not null,
  expires_at     timestamptz(3) not null,
  used_at        timestamptz(3)
);
create index oauth_codes_expired on oauth_codes (expires_at);

create table access_tokens (
  hash       bytea primary key,
  grant_id   text not null references grants on delete cascade,
  expires_at timestamptz(3) not null
);
create index access_tokens_expired on access_tokens (expires_at);
create index access_tokens_grant on access_tokens (grant_id);

create table refresh_tokens (
  hash       bytea primary key,
  grant_id   text not null references grants on delete cascade,
  expires_at timestamptz(3) not null,
  rotated_at timestamptz(3)
);
create index refresh_tokens_expired on refresh_tokens (expires_at);

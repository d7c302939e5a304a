-- Pull requests and branches of git hosts, linked to issues and agent sessions.

create table git_connections (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  kind         text not null, -- github, gitlab, gitea, forgejo
  name         text not null,
  host         text not null, -- with http:// if the operator allowed that
  repositories text[] not null,
  team_ids     text[],        -- null for all teams
  secret       text not null, -- sealed, with the connection's id as additional data
  token        text,          -- sealed likewise
  received_at  timestamptz(3),
  refused      bigint not null default 0,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  unique (workspace_id, id)
);
create index git_connections_newest on git_connections (workspace_id, id desc);

create table pull_requests (
  id               text primary key,
  workspace_id     text not null,
  connection_id    text not null,
  repository       text not null,
  number           bigint not null,
  title            text not null,
  url              text not null,
  branch           text not null,
  author           text,
  state            text not null,  -- open, draft, merged, closed
  review           text,           -- requested, approved, changes_requested
  reviews          jsonb not null, -- by reviewer: state and time; some hosts report each review alone
  review_requested boolean not null,
  checks           text,           -- pending, passed, failed
  check_runs       jsonb not null, -- by name: run, state and time, of the head commit
  head_commit      text not null,
  fork             boolean not null,
  private          boolean not null, -- the repository
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null, -- at the git host; older data is ignored
  comment_due_at   timestamptz(3), -- a comment is to be posted then; null if not, or not any more
  comment_attempts int not null default 0,
  commented_at     timestamptz(3),
  unique (connection_id, repository, number),
  unique (workspace_id, id),
  foreign key (workspace_id, connection_id) references git_connections (workspace_id, id) on delete cascade
);
create index pull_requests_newest on pull_requests (workspace_id, id desc);
create index pull_requests_state on pull_requests (workspace_id, state, id desc);
create index pull_requests_url on pull_requests (workspace_id, url); -- sessions name it in external_urls
create index pull_requests_head on pull_requests (connection_id, head_commit); -- checks name only the commit
create index pull_requests_branch on pull_requests (connection_id, repository, branch);
create index pull_requests_comment on pull_requests (comment_due_at) where comment_due_at is not null;

create table pull_request_issues (
  pull_request_id text not null,
  issue_id        text not null,
  workspace_id    text not null,
  closes          boolean not null,
  source          text not null, -- text; member; unlinked: by a member, so that texts do not link it again
  primary key (pull_request_id, issue_id),
  foreign key (workspace_id, pull_request_id) references pull_requests (workspace_id, id) on delete cascade,
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade
);
create index pull_request_issues_issue on pull_request_issues (issue_id, pull_request_id);

-- Sessions that branch or body of a pull request name. Those with its URL are found by their external_urls.
create table pull_request_sessions (
  pull_request_id text not null,
  session_id      text not null references agent_sessions on delete cascade,
  workspace_id    text not null,
  primary key (pull_request_id, session_id),
  foreign key (workspace_id, pull_request_id) references pull_requests (workspace_id, id) on delete cascade
);
create index pull_request_sessions_session on pull_request_sessions (session_id, pull_request_id);

-- Pushed branches that name issues, until they are deleted. Shown while they have no pull request.
create table git_branches (
  connection_id text not null,
  repository    text not null,
  name          text not null,
  issue_id      text not null,
  workspace_id  text not null,
  url           text not null,
  pushed_at     timestamptz(3) not null,
  primary key (connection_id, repository, name, issue_id),
  foreign key (workspace_id, connection_id) references git_connections (workspace_id, id) on delete cascade,
  foreign key (workspace_id, issue_id) references issues (workspace_id, id) on delete cascade
);
create index git_branches_issue on git_branches (issue_id);

create table git_deliveries (
  id              text primary key,
  workspace_id    text not null,
  connection_id   text not null,
  event           text not null,
  outcome         text not null,
  repository      text,
  number          bigint,
  pull_request_id text references pull_requests on delete set null,
  body_hash       bytea, -- SHA-256; null if the body had no effect and may come again
  received_at     timestamptz(3) not null,
  foreign key (workspace_id, connection_id) references git_connections (workspace_id, id) on delete cascade
);
create index git_deliveries_newest on git_deliveries (connection_id, id desc);
create index git_deliveries_hash on git_deliveries (connection_id, body_hash) where body_hash is not null;
create index git_deliveries_received on git_deliveries (received_at); -- old ones are deleted
create index git_deliveries_pull_request on git_deliveries (pull_request_id);

-- Teams without a row have the default rules.
create table git_automation (
  team_id      text primary key,
  workspace_id text not null references workspaces on delete cascade,
  rules        jsonb not null,
  foreign key (workspace_id, team_id) references teams (workspace_id, id) on delete cascade
);

-- The service itself made the change, such as a rule for pull requests; without it, a change without actor is one of a
-- deleted user.
alter table issue_changes add column by_system boolean not null default false;

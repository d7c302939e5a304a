-- How the model that agents think with has been answering, for managers of any process's workspaces to see. About one
-- endpoint, so that another one begins anew. Written when the kind of outcome changes, else at most once a minute.

create table model_health (
  about           text primary key,
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  last_failure    text
);

"""Presigns URLs with AWS's own client.

Reads a list of JSON objects from the file in argv[1]: `endpoint`, `region`, `bucket`, `style`, `accessKeyID`, `secret`,
`sessionToken` (or null), and `objects`, a list of `key`, `lifetime` and `time` (both in seconds). Writes a list of the
URLs of all objects to standard output.
"""
import datetime
import json
import sys

import botocore.auth
import botocore.session
from botocore.config import Config

with open(sys.argv[1], encoding="utf-8") as file:
    settings = json.load(file)

session = botocore.session.Session()
urls = []
for setting in settings:
    client = session.create_client(
        "s3",
        region_name=setting["region"],
        endpoint_url=setting["endpoint"],
        aws_access_key_id=setting["accessKeyID"],
        aws_secret_access_key=setting["secret"],
        aws_session_token=setting["sessionToken"],
        config=Config(signature_version="s3v4", s3={"addressing_style": setting["style"]}),
    )
    for item in setting["objects"]:
        now = datetime.datetime.fromtimestamp(item["time"], datetime.timezone.utc)
        botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now.replace(tzinfo=None)
        urls.append(
            client.generate_presigned_url(
                "get_object",
                Params={"Bucket": setting["bucket"], "Key": item["key"]},
                ExpiresIn=item["lifetime"],
            )
        )
json.dump(urls, sys.stdout)

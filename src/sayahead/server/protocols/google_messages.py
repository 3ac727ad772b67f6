"""The messages of Google's Text-to-Speech API, with the fields that we use; others are skipped.

Names and numbers are those of google/cloud/texttospeech/v1/cloud_tts.proto in googleapis
(Apache-2.0). The types are in a pool of their own, so that a program may also import Google's.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from sayahead.server.json_messages import MessageError

PACKAGE = "google.cloud.texttospeech.v1"
SHAPES = """
ListVoicesRequest: language_code=1 string
ListVoicesResponse: voices=1 Voice repeated
Voice: language_codes=1 string repeated, name=2 string, ssml_gender=3 int32, natural_sample_rate_hertz=4 int32
VoiceSelectionParams: language_code=1 string, name=2 string
AudioConfig: audio_encoding=1 int32, speaking_rate=2 double, pitch=3 double, volume_gain_db=4 double, \
sample_rate_hertz=5 int32
CustomPronunciationParams: phrase=1 string, phonetic_encoding=2 int32, pronunciation=3 string
CustomPronunciations: pronunciations=1 CustomPronunciationParams repeated
SynthesisInput: text=1 string oneof, ssml=2 string oneof, custom_pronunciations=3 CustomPronunciations
SynthesizeSpeechRequest: input=1 SynthesisInput, voice=2 VoiceSelectionParams, audio_config=3 AudioConfig
SynthesizeSpeechResponse: audio_content=1 bytes
StreamingAudioConfig: audio_encoding=1 int32, sample_rate_hertz=2 int32, speaking_rate=3 double
StreamingSynthesizeConfig: voice=1 VoiceSelectionParams, streaming_audio_config=4 StreamingAudioConfig, \
custom_pronunciations=5 CustomPronunciations
StreamingSynthesisInput: text=1 string oneof
StreamingSynthesizeRequest: streaming_config=1 StreamingSynthesizeConfig oneof, input=2 StreamingSynthesisInput oneof
StreamingSynthesizeResponse: audio_content=1 bytes
"""  # noqa: E501
"""One message per line: fields with their numbers and types. Enums are int32, which is encoded the
same way."""
ENCODINGS = {1: "LINEAR16", 2: "MP3", 3: "OGG_OPUS", 5: "MULAW", 6: "ALAW", 7: "PCM", 8: "M4A"}
"""AudioEncoding."""
IPA = 1
"""The supported PhoneticEncoding."""

_Field = descriptor_pb2.FieldDescriptorProto


def described() -> bytes:
    """Return the file descriptor of all messages, serialized."""
    file = descriptor_pb2.FileDescriptorProto(
        name="sayahead/google.proto", package=PACKAGE, syntax="proto3"
    )
    for line in SHAPES.strip().splitlines():
        name, _, fields = line.partition(": ")
        message = file.message_type.add(name=name)
        for spec in fields.split(", "):
            place, kind, *rest = spec.split()
            label = _Field.LABEL_REPEATED if "repeated" in rest else _Field.LABEL_OPTIONAL
            field = message.field.add(
                name=place.partition("=")[0], number=int(place.partition("=")[2]), label=label
            )
            if kind[0].isupper():
                field.type = _Field.TYPE_MESSAGE
                field.type_name = f".{PACKAGE}.{kind}"
            else:
                field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
            if "oneof" in rest:
                field.oneof_index = 0
                if not message.oneof_decl:
                    message.oneof_decl.add(name="one")
    data: bytes = file.SerializeToString()
    return data


_POOL = descriptor_pool.DescriptorPool()
_POOL.AddSerializedFile(described())


def new(kind: str, /, **fields: Any) -> Any:
    """Return a message with these fields."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{PACKAGE}.{kind}"))(
        **fields
    )


def packed(kind: str, /, **fields: Any) -> bytes:
    """Return a serialized message with these fields."""
    data: bytes = new(kind, **fields).SerializeToString()
    return data


def parsed(kind: str, data: bytes) -> Any:
    """Parse a message. MessageError if it is invalid."""
    message = new(kind)
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise MessageError(f"The message is not a {kind} of {PACKAGE}.") from error
    return message
